/** A token that is found in texts before anything else is made of them. */ /** Finds added tokens in texts; catalogues add tens of thousands of them. */ export class AddedTokenFinder {
    byText;
    /** Lengths of the tokens by their first two characters, the longest first. */ lengths = new Map();
    /** 1 where a token begins with the character: texts are long, and few of their places may be. */ begins = new Uint8Array(1 << 16);
    constructor(tokens){
        this.byText = new Map(tokens.map((token)=>[
                token.content,
                token
            ]));
        const lengths = new Map();
        for (const { content } of tokens){
            this.begins[content.charCodeAt(0)] = 1;
            const start = content.slice(0, 2);
            const known = lengths.get(start);
            if (known === undefined) lengths.set(start, new Set([
                content.length
            ]));
            else known.add(content.length);
        }
        for (const [start, known] of lengths){
            this.lengths.set(start, [
                ...known
            ].sort((a, b)=>b - a));
        }
    }
    /** Wherever one is, in the order of the text; those that overlap as well. */ placesIn(text) {
        const places = [];
        for(let start = 0; start < text.length; start += 1){
            if (this.begins[text.charCodeAt(start)] === 0) continue;
            const two = text.slice(start, start + 2);
            this.addPlaces(text, start, two, places);
            if (two.length === 2) this.addPlaces(text, start, two[0], places);
        }
        return places;
    }
    addPlaces(text, start, first, to) {
        for (const length of this.lengths.get(first) ?? []){
            const token = this.byText.get(text.slice(start, start + length));
            if (token !== undefined) to.push({
                token,
                start,
                end: start + length
            });
        }
    }
}
/** The characters of `\w` in the Rust tokenizers. */ const WORD = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]/u;
/** True if a letter, digit or underscore touches the place. */ export function touchesWord(text, { start, end }) {
    const before = Array.from(text.slice(Math.max(0, start - 2), start)).at(-1) ?? '';
    const after = String.fromCodePoint(text.codePointAt(end) ?? 0x20);
    return WORD.test(before) || WORD.test(after);
}

//# sourceMappingURL=added-tokens.js.map