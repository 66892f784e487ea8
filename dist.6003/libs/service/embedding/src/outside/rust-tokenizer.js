import { expecting, TesseraError } from "../../../../ops/errors/src/index.js";
import { Tokenizer } from "tokenizers";
const invalid = expecting('TOKENIZER_INVALID');
/**
 * The `TextTokenizer` port over the library that models are trained with (`tokenizers`, in Rust):
 * whatever a tokenizer.json asks for is done as it was then, or not taken. Each text is made into
 * tokens on a thread of Node's pool.
 * @param text content of a tokenizer.json
 * @param path names it in messages
 * @throws TesseraError TOKENIZER_INVALID
 */ export async function rustTokenizer(text, path) {
    try {
        const library = Tokenizer.fromString(text);
        // How a caller of the tokenizer cuts and fills texts is not asked here.
        library.disableTruncation();
        library.disablePadding();
        await library.encode('a b', null, {
            addSpecialTokens: true
        });
        return portOf(library);
    } catch (error) {
        const message = TesseraError.from(error).message;
        throw new TesseraError('TOKENIZER_INVALID', `${path}: the tokenizer library says: ${message}`, {
            field: path,
            cause: error
        });
    }
}
function portOf(library) {
    const encoded = async (first, second, addSpecialTokens)=>{
        try {
            return await library.encode(first, second, {
                addSpecialTokens
            });
        } catch (error) {
            const part = JSON.stringify(first.slice(0, 80));
            throw invalid('tokenizer', `a token for every part of ${part}`, 'none', error);
        }
    };
    return {
        encode: async (text)=>(await encoded(text, null, false)).getIds(),
        encodeWhole: async (text)=>(await encoded(text, null, true)).getIds(),
        encodePair: async (first, second)=>{
            const pair = await encoded(first, second, true);
            return {
                ids: pair.getIds(),
                segments: pair.getTypeIds()
            };
        }
    };
}

//# sourceMappingURL=rust-tokenizer.js.map