import { expecting } from "../../../../ops/errors/src/index.js";
const invalid = expecting('CATALOGUE_INVALID');
const NO_CODEBOOKS = 'none, since the catalogue has no codebooks (catalogue.codebooksPath)';
/** @throws TesseraError CATALOGUE_INVALID where other codebooks are meant, or there are none */ function checkCodebooks(ids, asked, field) {
    if (asked === '' || asked === ids?.digest) return;
    throw invalid(`${field}codebooks`, ids === undefined ? NO_CODEBOOKS : ids.digest, asked);
}
function embedderOf(ids, field, text) {
    if (ids?.embedder !== undefined) return ids.embedder;
    const expected = ids === undefined ? NO_CODEBOOKS : 'a vector, since the codebooks have no embedding of texts';
    throw invalid(`${field}text`, expected, text);
}
/**
 * The vector that a source gives.
 * @param field what stands before the names of its members in a refusal
 * @throws TesseraError CATALOGUE_INVALID
 */ export async function vectorOf(ids, { vector = [], text = '', codebooks = '' }, field) {
    checkCodebooks(ids, codebooks, field);
    if (text === '') return Float32Array.from(vector);
    if (vector.length > 0) throw invalid(`${field}text`, 'none beside a vector', text);
    const embedder = embedderOf(ids, field, text);
    const [made = new Float32Array()] = await embedder.embed([
        text
    ], ()=>`${field}text`);
    return made;
}
const hasSource = (change)=>change.op === 'upsert' && Boolean(change.text || change.codebooks || (change.vector?.length ?? 0) > 0);
const fieldAt = (place)=>`changes[${place}].`;
/** Checks where the changes have their semantic IDs from; returns the texts among them. */ function textsOf(ids, changes) {
    const texts = [];
    for (const [place, change] of changes.entries()){
        if (!hasSource(change)) continue;
        const { text = '', vector = [], codebooks = '', sid } = change;
        checkCodebooks(ids, codebooks, fieldAt(place));
        if (text === '') continue;
        if (sid.length > 0 || vector.length > 0) {
            throw invalid(`${fieldAt(place)}text`, 'none beside a sid or vector', text);
        }
        texts.push({
            text,
            place
        });
    }
    return texts;
}
/**
 * The changes of a batch's messages as the engine takes them: texts have become vectors, those of
 * all messages together.
 * @throws TesseraError CATALOGUE_INVALID with the field
 */ export async function withVectors(ids, messages) {
    const texts = textsOf(ids, messages.flat());
    const made = new Map();
    const [first] = texts;
    if (first !== undefined) {
        const embedder = embedderOf(ids, fieldAt(first.place), first.text);
        const vectors = await embedder.embed(texts.map(({ text })=>text), (number)=>`${fieldAt(texts[number]?.place ?? 0)}text`);
        for (const [number, { place }] of texts.entries()){
            made.set(place, vectors[number] ?? new Float32Array());
        }
    }
    let place = 0;
    const asGivenHere = (change)=>{
        const vector = made.get(place++);
        return vector === undefined ? asGiven(change) : {
            ...given(change),
            vector
        };
    };
    return messages.map((changes)=>changes.map(asGivenHere));
}
const given = ({ op, itemId, sid, title, attributes, priority })=>({
        op,
        itemId,
        sid,
        title,
        attributes,
        priority
    });
function asGiven(change) {
    if (change.op !== 'upsert') return change;
    const { vector = [] } = change;
    return vector.length === 0 ? given(change) : Object.assign(given(change), {
        vector: Float32Array.from(vector)
    });
}

//# sourceMappingURL=semantic-ids.js.map