import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
/** A part of a call by its index, as errors name it: a document, a behaviour, a recall. */ const NAMED = /^(documents|texts|behaviours|recalls)\[(\d+)\]/;
/** The index of the document that a field or message begins with; undefined: with none. */ export function namedDocument(text) {
    const found = NAMED.exec(text);
    return found === null ? undefined : Number(found[2]);
}
/** The same text with the document's index in the call instead of that in its part. */ export function renumbered(text, documents) {
    return text.replace(NAMED, (whole, name, index)=>{
        const own = documents[Number(index)];
        return own === undefined ? whole : `${name}[${own}]`;
    });
}
export function renumberedError(error, documents) {
    const { code, message, field, retryAfterMs } = error;
    return new TesseraError(code, renumbered(message, documents), {
        field: field === undefined ? undefined : renumbered(field, documents),
        retryAfterMs,
        cause: error
    });
}

//# sourceMappingURL=part-numbers.js.map