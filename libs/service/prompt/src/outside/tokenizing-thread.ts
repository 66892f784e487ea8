import { createRequire } from 'node:module';
import { ProgramThread } from '@tessera/threads';

/** No token of the library. */
const NO_TOKEN_ID = -1;

const PROGRAM = `({ library, document }) => {
  const tokenizer = new (require(library).Tokenizer)(document, {});
  return (text) => {
    const { ids } = tokenizer.encode(text, { add_special_tokens: false });
    return Int32Array.from(ids, (id) => id ?? ${NO_TOKEN_ID});
  };
}`;

/** A thread that makes texts into tokens. */
export class TokenizingThread {
  private readonly thread: ProgramThread<string, Int32Array>;

  /** @param document as the library takes it; it is copied, which takes a while */
  constructor(document: object) {
    const library = createRequire(import.meta.url).resolve('@huggingface/tokenizers');
    this.thread = new ProgramThread('tokenizer', PROGRAM, { library, document });
  }

  get isOver(): boolean {
    return this.thread.isOver;
  }

  /** Undefined for a part of the text that has no token. Rejects as the library throws. */
  async encode(text: string): Promise<readonly (number | undefined)[]> {
    const tokens = await this.thread.ask(text);
    return Array.from(tokens, (id) => (id === NO_TOKEN_ID ? undefined : id));
  }
}
