/** Changes of a catalogue while it serves; docs/concepts/live-catalogue.md gives the rules. */ import { expecting, JSON_DEPTH_MAX, nestsTooDeep, TesseraError } from "../../../../ops/errors/src/index.js";
const invalid = expecting('CATALOGUE_INVALID');
/**
 * The engine reads the attributes by descending into them.
 * @param first place of the first of the changes in their batch
 * @throws TesseraError CATALOGUE_INVALID for attributes that nest too deep
 */ export function checkNesting(changes, first) {
    const deep = changes.findIndex((change)=>nestsTooDeep(objectOf(change)));
    if (deep < 0) return;
    const member = changes[deep]?.op === 'patch_attributes' ? 'set' : 'attributes';
    const field = `changes[${first + deep}].${member}`;
    const message = `${field}: expected JSON nested at most ${JSON_DEPTH_MAX} deep, got more`;
    throw new TesseraError('CATALOGUE_INVALID', message, {
        field
    });
}
export const PACE_EXPECTED = 'a factor above 0 and at most 1';
/** @throws TesseraError CATALOGUE_INVALID for a pace without attribute or text, or out of range */ export function checkPaces(changes, first) {
    for (const [index, change] of changes.entries()){
        if (change.op !== 'set_pace') continue;
        const { attribute, text, factor } = change.pace;
        const at = `changes[${first + index}]`;
        if (attribute === '') throw invalid(`${at}.attribute`, 'the name of an attribute', 'none');
        if (text === '') throw invalid(`${at}.text`, 'a text of the attribute', 'none');
        if (!(factor > 0 && factor <= 1)) throw invalid(`${at}.factor`, PACE_EXPECTED, String(factor));
    }
}
/** The JSON object that it brings. */ function objectOf(change) {
    if (change.op === 'patch_attributes') return change.patch.set;
    return 'attributes' in change ? change.attributes : '';
}
/** Characters of its texts. */ export function charactersOf(change) {
    const title = change.op === 'upsert' ? upsertCharacters(change) : 0;
    const predicate = 'predicate' in change && change.predicate ? clauseCharacters(change.predicate) : 0;
    const texts = 'patch' in change ? textsOf(change.patch) : paceTexts(change);
    const patched = texts.reduce((sum, text)=>sum + text.length, 0);
    return change.itemId.length + title + objectOf(change).length + predicate + patched;
}
const paceTexts = (change)=>change.op === 'set_pace' ? [
        change.pace.attribute,
        change.pace.text
    ] : [];
/** A number of a vector takes as much as two characters. */ function upsertCharacters({ title, text = '', vector = [] }) {
    return title.length + text.length + 2 * vector.length;
}
function clauseCharacters({ attribute, values, clauses }) {
    const own = values.reduce((sum, value)=>sum + value.length, attribute.length);
    return clauses.reduce((sum, below)=>sum + clauseCharacters(below), own);
}
function textsOf({ unset, add, take, delta }) {
    const ofSets = [
        ...add,
        ...take
    ].flatMap(({ attribute, texts })=>[
            attribute,
            ...texts
        ]);
    return [
        ...unset,
        ...ofSets,
        ...delta.map(({ attribute })=>attribute)
    ];
}

//# sourceMappingURL=change.js.map