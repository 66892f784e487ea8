/** Eligibility and predicates of the wire -> domain. */ import { clauseOf, FormReader } from "../../../../libs/service/catalogue/src/index.js";
const reader = new FormReader('REQUEST_INVALID');
/** The decoder gives null for a message that is not there. */ function given(message) {
    return message !== undefined && message !== null;
}
/**
 * @param path of the predicate
 * @param depth of the clause, the outermost being 1
 * @throws TesseraError with the code of `refusing` and the path of the member at fault
 */ export function clauseFrom(predicate, path, refusing, depth = 1) {
    refusing.depth(path, depth);
    const { all, any, not, in: oneOf, contains, range } = predicate;
    const below = (each, at)=>clauseFrom(each, at, refusing, depth + 1);
    const list = (kind, predicates)=>clauseOf(kind, {
            clauses: predicates.map((each, index)=>below(each, `${path}.${kind}[${index}]`))
        });
    if (given(all)) return list('all', all.predicates);
    if (given(any)) return list('any', any.predicates);
    if (given(not)) return clauseOf('not', {
        clauses: [
            below(not, `${path}.not`)
        ]
    });
    const leaf = oneOf ?? contains ?? range;
    if (!given(leaf)) refusing.refuse(path, 'one of all, any, not, in, contains and range', 'none');
    const attribute = refusing.attribute(path, leaf?.attribute);
    if (given(oneOf)) return clauseOf('in', {
        attribute,
        values: oneOf.values
    });
    if (given(contains)) return clauseOf('contains', {
        attribute,
        values: contains.values
    });
    return refusing.range(path, attribute, range ?? {});
}
/** @throws TesseraError REQUEST_INVALID with the path of the member at fault */ export function eligibilityFrom(message) {
    const { predicate, allowed, denied, seen } = message;
    const path = 'eligibility.predicate';
    return {
        predicate: given(predicate) ? clauseFrom(predicate, path, reader) : undefined,
        allowed: given(allowed) ? allowed.itemIds : undefined,
        denied,
        seen
    };
}

//# sourceMappingURL=eligibility.mapper.js.map