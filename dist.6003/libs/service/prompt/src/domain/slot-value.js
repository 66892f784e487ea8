import { expecting } from "../../../../ops/errors/src/index.js";
const invalid = expecting('REQUEST_INVALID');
/** Characters of a profile or scene value at most. */ const SLOT_VALUE_LENGTH_MAX = 256;
const VALUES_IN_MESSAGE_MAX = 20;
const LONE_SURROGATE = /\p{Surrogate}/u;
/**
 * The text of a slot, undefined where the segment is left out.
 * A value with the text of an added token is refused: it could end the prompt or forge behaviours.
 * @throws TesseraError REQUEST_INVALID with the path of the value
 */ export function slotText(segment, given, tokenizer) {
    const value = Object.hasOwn(given, segment.key) ? given[segment.key] : segment.default;
    if (value === undefined) return undefined;
    if (segment.values !== undefined) {
        const text = segment.values.get(value);
        if (text === undefined) throw refusal(segment, `one of ${known(segment.values)}`, value);
        return text;
    }
    if (value === segment.default) return value;
    if (value.length > SLOT_VALUE_LENGTH_MAX) {
        throw refusal(segment, `at most ${SLOT_VALUE_LENGTH_MAX} characters`, value);
    }
    if (LONE_SURROGATE.test(value)) throw refusal(segment, 'well-formed Unicode', value);
    const token = tokenizer.addedTokensIn(value)[0]?.token.content;
    if (token !== undefined) throw refusal(segment, `a text without the token ${token}`, value);
    return {
        field: fieldOf(segment),
        text: value
    };
}
/**
 * A value must not make a token with what stands beside it, but one around the whole of it, as
 * `<|daypart_` and `|>` are meant to: no part of it may be a token's begin or end, and no token
 * that it makes may be reserved.
 * @throws TesseraError REQUEST_INVALID with the path of the value
 */ export function checkBorders(text, values, tokenizer, isReserved) {
    if (values.length === 0) return;
    for (const place of tokenizer.addedTokensIn(text)){
        const forging = values.find((value)=>{
            if (place.end <= value.start || place.start >= value.end) return false;
            const isAround = place.start < value.start && value.end < place.end;
            return !isAround || isReserved(place.token);
        });
        if (forging === undefined) continue;
        const expected = `a text that does not make the token ${place.token.content}`;
        throw invalid(forging.field, expected, given(forging.text));
    }
}
function known(values) {
    const names = [
        ...values.keys()
    ].slice(0, VALUES_IN_MESSAGE_MAX).join(', ');
    return values.size <= VALUES_IN_MESSAGE_MAX ? names : `${names}, … (${values.size})`;
}
function refusal(segment, expected, value) {
    return invalid(fieldOf(segment), expected, given(value));
}
function fieldOf({ kind, key }) {
    return `${kind}.${key}`;
}
function given(value) {
    return value.length <= 40 ? `'${value}'` : `${value.length} characters`;
}

//# sourceMappingURL=slot-value.js.map