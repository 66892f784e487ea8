import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { TesseraError } from '@tessera/errors';

/** What the library has no token for. */
const NO_TOKEN_ID = -1;

/**
 * The thread's program: a text that has a file of its own would have another path in each of
 * source, dist/ and its bundles. It knows nothing but the library and its own messages.
 */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { Tokenizer } = require(workerData.library);
const tokenizer = new Tokenizer(workerData.document, {});
parentPort.on('message', ({ number, text }) => {
  try {
    const { ids } = tokenizer.encode(text, { add_special_tokens: false });
    const tokens = Int32Array.from(ids, (id) => id ?? ${NO_TOKEN_ID});
    parentPort.postMessage({ number, tokens }, [tokens.buffer]);
  } catch (error) {
    parentPort.postMessage({ number, reason: String(error) });
  }
});
`;

interface Waiting {
  readonly resolve: (tokens: readonly (number | undefined)[]) => void;
  readonly reject: (error: TesseraError) => void;
}

type Answer =
  | { readonly number: number; readonly tokens: Int32Array }
  | { readonly number: number; readonly reason: string };

/**
 * A thread that makes texts into tokens, one after the other: what takes long keeps Node's own
 * thread from no other call. It does not keep the process alive. Owner: the tokenizer that uses it.
 */
export class TokenizingThread {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private fault: TesseraError | undefined;

  /** @param document as the library takes it; it is copied, which takes a while */
  constructor(document: object) {
    const library = createRequire(import.meta.url).resolve('@huggingface/tokenizers');
    const workerData = { library, document };
    this.worker = new Worker(PROGRAM, { eval: true, workerData });
    this.worker.unref();
    this.worker.on('message', (answer: Answer) => this.settle(answer));
    this.worker.on('error', (error) => this.fail(String(error)));
    this.worker.on('exit', (code) => this.fail(`it ended with ${code}`));
  }

  /** It has ended, and takes nothing more. */
  get isOver(): boolean {
    return this.fault !== undefined;
  }

  /** Undefined for a part of the text that has no token. Rejects with INTERNAL. */
  encode(text: string): Promise<readonly (number | undefined)[]> {
    if (this.fault !== undefined) return Promise.reject(this.fault);
    const number = this.next;
    this.next += 1;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      this.worker.ref();
      this.worker.postMessage({ number, text });
    });
  }

  private settle(answer: Answer): void {
    const waiting = this.waiting.get(answer.number);
    this.waiting.delete(answer.number);
    if (this.waiting.size === 0) this.worker.unref();
    if ('reason' in answer) waiting?.reject(refused(answer.reason));
    else waiting?.resolve(Array.from(answer.tokens, (id) => (id === NO_TOKEN_ID ? undefined : id)));
  }

  private fail(reason: string): void {
    this.fault ??= refused(reason);
    for (const { reject } of this.waiting.values()) reject(this.fault);
    this.waiting.clear();
  }
}

function refused(reason: string): TesseraError {
  return new TesseraError('INTERNAL', `tokenizer: expected tokens of its thread, got: ${reason}`);
}
