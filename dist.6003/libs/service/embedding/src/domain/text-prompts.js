import { expecting } from "../../../../ops/errors/src/index.js";
const invalid = expecting('REQUEST_INVALID');
/** Texts that a model was trained to see before others, by their names. */ export class TextPrompts {
    texts;
    defaultName;
    static NONE = new TextPrompts(new Map(), '');
    constructor(texts, /** Of the prompt where a caller names none; empty: none. */ defaultName){
        this.texts = texts;
        this.defaultName = defaultName;
    }
    get names() {
        return [
            ...this.texts.keys()
        ];
    }
    /** A line for people; undefined where no prompt changes a text. */ get note() {
        const names = this.names.filter((name)=>this.texts.get(name) !== '');
        if (names.length === 0) return undefined;
        const own = this.defaultText === '' ? 'none' : this.defaultName;
        return `prompts: ${names.join(', ')}; by default: ${own}`;
    }
    /** Prefix of a text where a caller names no prompt. */ get defaultText() {
        return this.texts.get(this.defaultName) ?? '';
    }
    /**
   * @param name undefined: the model's own
   * @throws TesseraError REQUEST_INVALID naming `promptName`
   */ textOf(name) {
        if (name === undefined) return this.defaultText;
        const text = this.texts.get(name);
        if (text !== undefined) return text;
        const known = this.names.length === 0 ? 'none: the model has no prompts' : `one of ${this.names.join(', ')}`;
        throw invalid('promptName', known, name);
    }
}

//# sourceMappingURL=text-prompts.js.map