import { createRequire } from "node:module";
import { ProgramThread } from "../../../../ops/threads/src/index.js";
/** No token of the library. */ const NO_TOKEN_ID = -1;
const PROGRAM = `({ library, document }) => {
  const tokenizer = new (require(library).Tokenizer)(document, {});
  return (text) => {
    const { ids } = tokenizer.encode(text, { add_special_tokens: false });
    return Int32Array.from(ids, (id) => id ?? ${NO_TOKEN_ID});
  };
}`;
/** A thread that makes texts into tokens. */ export class TokenizingThread {
    thread;
    /** @param document as the library takes it; it is copied, which takes a while */ constructor(document){
        const library = createRequire(import.meta.url).resolve('@huggingface/tokenizers');
        this.thread = new ProgramThread('tokenizer', PROGRAM, {
            library,
            document
        });
    }
    get isOver() {
        return this.thread.isOver;
    }
    /** Undefined for a part of the text that has no token. Rejects as the library throws. */ async encode(text) {
        const tokens = await this.thread.ask(text);
        return Array.from(tokens, (id)=>id === NO_TOKEN_ID ? undefined : id);
    }
}

//# sourceMappingURL=tokenizing-thread.js.map