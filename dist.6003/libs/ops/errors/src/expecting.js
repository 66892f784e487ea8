import { TesseraError } from "./tessera-error.js";
const GOT_CHARACTERS_MAX = 120;
/** A value as messages show it: JSON, `nothing` where it is undefined, not too long. */ export function shown(value) {
    if (value === undefined) return 'nothing';
    const isNumber = typeof value === 'number' || typeof value === 'bigint';
    return cut(isNumber ? String(value) : JSON.stringify(value) ?? String(value));
}
function cut(text) {
    return text.length > GOT_CHARACTERS_MAX ? `${text.slice(0, GOT_CHARACTERS_MAX)}...` : text;
}
/** Expectation of an ID; of a number that readers of JSON round, how it keeps its digits. */ export function idExpected(value) {
    const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
    return isRounded ? 'the ID as text (a number beyond 2^53 is rounded)' : 'a string or an integer';
}
/** True for what is nobody's ID: every way in refuses it. Spaces are those of Unicode. */ export const isBlank = (id)=>id.trim() === '';
/**
 * Makes the refusals of one code: `field: expected WHAT, got GOT`.
 * @returns a function of the field's path, what was expected, and what was given instead: a text
 * stands as it is, anything else as `shown` has it
 */ export function expecting(code) {
    return (field, what, got, cause)=>{
        const given = typeof got === 'string' ? cut(got) : shown(got);
        return new TesseraError(code, `${field}: expected ${what}, got ${given}`, {
            field,
            cause
        });
    };
}

//# sourceMappingURL=expecting.js.map