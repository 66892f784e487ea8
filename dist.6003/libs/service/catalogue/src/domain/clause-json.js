/** Clauses as the JSON of docs/concepts/eligibility.md. */ import { REACH_LIMITS } from "../../../../engine/src/index.js";
import { expecting, shown } from "../../../../ops/errors/src/index.js";
/** A clause of a kind; what the kind has no use for is left out. */ export function clauseOf(kind, members) {
    return {
        kind,
        attribute: members.attribute ?? '',
        values: members.values ?? [],
        min: members.min ?? Number.NEGATIVE_INFINITY,
        max: members.max ?? Number.POSITIVE_INFINITY,
        clauses: members.clauses ?? []
    };
}
/** Reads and checks JSON, naming the path of what has another form than it must. */ export class FormReader {
    invalid;
    /** @param code of the refusals */ constructor(code){
        this.invalid = expecting(code);
    }
    refuse(path, what, got) {
        throw this.invalid(path, what, got);
    }
    object(path, value) {
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        return isObject ? value : this.refuse(path, 'a JSON object', shown(value));
    }
    list(path, value) {
        return Array.isArray(value) ? value : this.refuse(path, 'a list', shown(value));
    }
    texts(path, value, what) {
        return this.list(path, value).map((entry, index)=>typeof entry === 'string' && entry.isWellFormed() ? entry : this.refuse(`${path}[${index}]`, what, shown(entry)));
    }
    depth(path, depth) {
        const { clauseDepth } = REACH_LIMITS;
        if (depth > clauseDepth) this.refuse(path, `at most ${clauseDepth} clauses deep`, depth);
    }
    attribute(path, value) {
        const isName = typeof value === 'string' && value !== '' && value.isWellFormed();
        return isName ? value : this.refuse(`${path}.attribute`, 'a name', shown(value));
    }
    range(path, attribute, { min, max }) {
        if (min === undefined && max === undefined) this.refuse(path, 'min or max', 'neither');
        const clause = clauseOf('range', {
            attribute,
            min: this.bound(`${path}.min`, min),
            max: this.bound(`${path}.max`, max)
        });
        if (clause.min > clause.max) this.refuse(`${path}.min`, `at most max (${max})`, min);
        return clause;
    }
    bound(path, value) {
        if (value === undefined || Number.isFinite(value)) return value;
        return this.refuse(path, 'a finite number', typeof value === 'number' ? `${value}` : value);
    }
}
/** A truth value stands for the text that an attribute of it is. */ function valuesAt(reader, path, value) {
    const list = reader.list(path, value);
    const texts = list.map((each)=>typeof each === 'boolean' ? `${each}` : each);
    return reader.texts(path, texts, 'a text');
}
function leafAt(reader, path, json) {
    const attribute = reader.attribute(path, json.attribute);
    const members = Object.keys(json).filter((name)=>name !== 'attribute');
    const kind = members.find((name)=>name === 'in' || name === 'contains');
    if (kind !== undefined) {
        if (members.length > 1) reader.refuse(path, `${kind} alone`, members.join(', '));
        const values = valuesAt(reader, `${path}.${kind}`, json[kind]);
        return clauseOf(kind, {
            attribute,
            values
        });
    }
    const stranger = members.find((name)=>name !== 'min' && name !== 'max');
    const forms = 'in, contains, min or max';
    if (stranger !== undefined) reader.refuse(`${path}.${stranger}`, forms, `'${stranger}'`);
    if (members.length === 0) reader.refuse(path, forms, 'the attribute alone');
    return reader.range(path, attribute, json);
}
/** @param depth of the clause, the outermost being 1 */ function clauseAt(reader, path, value, depth) {
    reader.depth(path, depth);
    const json = reader.object(path, value);
    if ('attribute' in json) return leafAt(reader, path, json);
    const members = Object.keys(json);
    const [kind = ''] = members;
    if (members.length !== 1) {
        reader.refuse(path, 'one of all, any and not, or an attribute', members.join(', '));
    }
    const at = `${path}.${kind}`;
    if (kind === 'not') {
        return clauseOf(kind, {
            clauses: [
                clauseAt(reader, at, json.not, depth + 1)
            ]
        });
    }
    if (kind !== 'all' && kind !== 'any') {
        return reader.refuse(at, 'all, any, not or attribute', `'${kind}'`);
    }
    const clauses = reader.list(at, json[kind]).map((below, index)=>clauseAt(reader, `${at}[${index}]`, below, depth + 1));
    return clauseOf(kind, {
        clauses
    });
}
/** @throws TesseraError with the reader's code and the path of the member at fault */ export function readClause(reader, path, value) {
    return clauseAt(reader, path, value, 1);
}
export function clauseJson({ kind, attribute, values, min, max, clauses }) {
    if (kind === 'not') return {
        not: clauses[0] && clauseJson(clauses[0])
    };
    if (kind === 'all' || kind === 'any') return {
        [kind]: clauses.map(clauseJson)
    };
    if (kind !== 'range') return {
        attribute,
        [kind]: values
    };
    return {
        attribute,
        ...Number.isFinite(min) && {
            min
        },
        ...Number.isFinite(max) && {
            max
        }
    };
}

//# sourceMappingURL=clause-json.js.map