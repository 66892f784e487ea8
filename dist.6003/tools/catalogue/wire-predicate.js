/** A predicate in the words of the wire. */ export function wirePredicate({ kind, clauses, attribute, values, min, max }) {
    switch(kind){
        case 'all':
        case 'any':
            return {
                [kind]: {
                    predicates: clauses.map(wirePredicate)
                }
            };
        case 'not':
            return {
                not: clauses.map(wirePredicate)[0]
            };
        case 'in':
        case 'contains':
            return {
                [kind]: {
                    attribute,
                    values
                }
            };
        case 'range':
            return {
                range: {
                    attribute,
                    ...Number.isFinite(min) && {
                        min
                    },
                    ...Number.isFinite(max) && {
                        max
                    }
                }
            };
    }
}

//# sourceMappingURL=wire-predicate.js.map