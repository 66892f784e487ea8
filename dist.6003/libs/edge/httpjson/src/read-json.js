/**
 * JSON -> message by the mapping of proto3: a field by either spelling, integers as text too. The
 * parser of bodies has taken nulls for absent. Unknown fields are refused; what is left out has
 * proto's default.
 */ import { expecting, idExpected, shown, TesseraError } from "../../../ops/errors/src/index.js";
import { inProto } from "./message-plan.js";
const invalid = expecting('REQUEST_INVALID');
/** The member of a body with a name of ours, by either spelling. */ export function memberOf(body, name) {
    const members = Object(body);
    const key = Object.hasOwn(members, name) ? name : inProto(name);
    return Object.hasOwn(members, key) ? members[key] : undefined;
}
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Of the text of a number, as proto3 writes integers of 64 bits, the number. */ export function numberIn(value) {
    return typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
}
function asObject(path, value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw invalid(path, 'a JSON object', shown(value));
    }
    return value;
}
/** JSON can escape half of a surrogate pair, which no UTF-8 can carry. */ function asText(path, value) {
    if (typeof value !== 'string') throw invalid(path, 'a string', shown(value));
    if (!value.isWellFormed()) throw invalid(path, 'well-formed Unicode', shown(value));
    return value;
}
function asId(path, value) {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
    if (typeof value === 'string') return asText(path, value);
    throw invalid(path, idExpected(value), shown(value));
}
/** Of its type: no more of its bits go where it is used. Narrower bounds are checked there. */ function asInteger(path, value, [least, most]) {
    const number = numberIn(value);
    if (!Number.isInteger(number)) throw invalid(path, 'an integer', shown(value));
    if (number >= least && number <= most) return number;
    throw invalid(path, `an integer in ${least}..${most}`, shown(value));
}
function asNumber(path, value) {
    const number = numberIn(value);
    if (typeof number === 'number' && Number.isFinite(number)) return number;
    throw invalid(path, 'a number', shown(value));
}
function asFlag(path, value) {
    if (typeof value === 'boolean') return value;
    throw invalid(path, 'true or false', shown(value));
}
function asWord(path, value, { words, protoWords }) {
    const table = [
        words,
        protoWords
    ].find((known)=>Object.hasOwn(known, String(value)));
    if (typeof value === 'string' && table !== undefined) return table[value];
    throw invalid(path, `one of ${Object.keys(words).join(', ')}`, shown(value));
}
/** Of a field that is left out. */ function defaultOf({ isList, isMap, isOptional, kind }) {
    if (isMap) return {};
    if (isOptional || kind === 'verbatim') return undefined;
    if (isList) return [];
    if (kind === 'flag') return false;
    return kind === 'text' || kind === 'id' ? '' : 0;
}
export class JsonReader {
    plans;
    constructor(plans){
        this.plans = plans;
    }
    /** @throws TesseraError REQUEST_INVALID with the path of the field */ read(type, json) {
        return this.members(type, asObject('body', json), '');
    }
    members(type, body, inside) {
        const { fields, spelled } = this.plans.of(type);
        const given = new Map();
        for (const [name, value] of Object.entries(body)){
            const field = spelled.get(name);
            if (field === undefined || given.has(field)) {
                const expected = field === undefined ? [
                    ...fields.keys()
                ].join(', ') : field.name;
                const fault = field === undefined ? 'unknown field' : 'the field stands there twice';
                const message = `${inside}${name}: ${fault}; expected ${expected}`;
                throw new TesseraError('REQUEST_INVALID', message, {
                    field: inside + name
                });
            }
            given.set(field, value);
        }
        const message = {};
        for (const field of new Set(spelled.values())){
            const value = given.get(field);
            if (value !== undefined || field.isRequired) {
                message[field.name] = this.field(field, inside + field.name, value);
            } else if (fields.has(field.name)) {
                message[field.name] = defaultOf(field);
            }
        }
        return message;
    }
    field(field, path, given) {
        if (field.isMap) {
            const entries = Object.entries(asObject(path, given)).map(([key, entry])=>[
                    asText(`${path} key`, key),
                    this.one(field, `${path}.${key}`, entry)
                ]);
            return Object.fromEntries(entries);
        }
        if (!field.isList) return this.one(field, path, given);
        if (field.listOf !== undefined && typeof given === 'object' && !Array.isArray(given)) {
            return this.members(field.listOf, asObject(path, given), `${path}.`);
        }
        if (!Array.isArray(given)) throw invalid(path, 'a list', shown(given));
        const list = given.map((entry, index)=>this.one(field, `${path}[${index}]`, entry));
        return field.listIn === '' ? list : {
            [field.listIn]: list
        };
    }
    one(field, path, value) {
        switch(field.kind){
            case 'text':
                return asText(path, value);
            case 'id':
                return asId(path, value);
            case 'flag':
                return asFlag(path, value);
            case 'integer':
                return asInteger(path, value, field.range);
            case 'number':
                return asNumber(path, value);
            case 'word':
                return asWord(path, value, field);
            case 'verbatim':
                return asObject(path, value);
            case 'message':
                return this.message(field.message, path, value);
        }
    }
    message(type, path, value) {
        const { bare } = this.plans.of(type);
        if (bare !== undefined && (typeof value === 'string' || typeof value === 'number')) {
            return {
                [bare.name]: this.field(bare, path, value)
            };
        }
        return this.members(type, asObject(path, value), `${path}.`);
    }
}

//# sourceMappingURL=read-json.js.map