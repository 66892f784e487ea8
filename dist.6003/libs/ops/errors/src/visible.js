/** Characters that a terminal obeys instead of showing: control, and the order of writing. */ const OBEYED = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
/**
 * Text that came from others as a terminal may show it, lines apart: what it would obey is written
 * as JSON escapes do, so that JSON stays the same JSON.
 */ export function visible(text) {
    return text.replace(OBEYED, (character)=>character === '\n' ? character : `\\u${character.codePointAt(0).toString(16).padStart(4, '0')}`);
}

//# sourceMappingURL=visible.js.map