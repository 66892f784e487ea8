import { Tokenizer as TokenizerLibrary } from "@huggingface/tokenizers";
import { expecting, TesseraError } from "../../../../ops/errors/src/index.js";
import { AddedTokenFinder, touchesWord } from "../domain/added-tokens.js";
import { TokenizingThread } from "./tokenizing-thread.js";
const invalid = expecting('TOKENIZER_INVALID');
/** A text of so many characters takes a few milliseconds; a longer one has a thread of its own. */ const ASIDE_CHARACTERS_MIN = 2048;
/** The `Tokenizer` port over @huggingface/tokenizers. */ export class HuggingFaceTokenizer {
    documents;
    digest;
    vocabSize;
    library;
    finder;
    hasSingleWords;
    thread;
    /** @throws TesseraError TOKENIZER_INVALID where the library does not take the documents */ constructor(documents, digest){
        this.documents = documents;
        this.digest = digest;
        try {
            this.library = new TokenizerLibrary(documents.tokenizer, {});
            this.library.encode('a b', {
                add_special_tokens: false
            });
        } catch (error) {
            throw refused(documents.fileName, error);
        }
        this.finder = new AddedTokenFinder(documents.addedTokens);
        this.hasSingleWords = documents.addedTokens.some((token)=>token.single_word);
        this.vocabSize = documents.vocabSize;
    }
    encode(text) {
        if (text === '') return [];
        if (this.hasSingleWords) this.checkSingleWords(text);
        const { ids } = this.library.encode(text, {
            add_special_tokens: false
        });
        return whole(text, ids);
    }
    async encodeAside(text) {
        if (text.length < ASIDE_CHARACTERS_MIN) return this.encode(text);
        if (this.hasSingleWords) this.checkSingleWords(text);
        return whole(text, await this.aside().encode(text));
    }
    /** Begins the thread where there is none: its copy of the vocabulary takes a while. */ aside() {
        if (this.thread === undefined || this.thread.isOver) {
            this.thread = new TokenizingThread(this.documents.tokenizer);
        }
        return this.thread;
    }
    tokenId(text) {
        return this.library.token_to_id(text);
    }
    addedTokensIn(text) {
        return this.finder.placesIn(text);
    }
    /** The library finds them inside words as well, where the tokenizer of the model does not. */ checkSingleWords(text) {
        const place = this.finder.placesIn(text).find((at)=>at.token.single_word && touchesWord(text, at));
        if (place === undefined) return;
        throw invalid('tokenizer', `${JSON.stringify(place.token.content)}, a single_word token, apart from letters, digits ` + 'and underscores', JSON.stringify(text.slice(Math.max(0, place.start - 20), place.end + 20)));
    }
}
/** @throws TesseraError TOKENIZER_INVALID where a part of the text has no token */ function whole(text, ids) {
    if (ids.every((id)=>id !== undefined)) return ids;
    const part = JSON.stringify(text.slice(0, 80));
    throw invalid('tokenizer', `a token for every part of ${part}`, 'none');
}
function refused(fileName, error) {
    const reason = error instanceof Error ? error.message : String(error);
    return new TesseraError('TOKENIZER_INVALID', `${fileName}: the tokenizer library says: ${reason}`, {
        field: fileName,
        cause: error
    });
}

//# sourceMappingURL=hugging-face-tokenizer.js.map