import type { EmbeddedPass, EmbedderHandle, EmbedderInfo } from '@tessera/native';
import { addon } from './addon.js';
import { awaitNative, callNative } from './native-error.js';

export interface EmbedderOptions {
  /** Hugging Face or SentenceTransformers folder. */
  readonly modelPath: string;
  readonly computeType: 'f32' | 'bf16' | 'w8a8';
  readonly threadCount: number;
  /** Tokens and texts of a pass at most. */
  readonly rowsMax: number;
  readonly textsMax: number;
}

/** A model of texts: token ids in, vectors out. Passes of one model wait for each other. */
export class NativeEmbedder {
  private constructor(
    private readonly handle: EmbedderHandle,
    readonly info: EmbedderInfo,
  ) {}

  /** @throws TesseraError MODEL_NOT_FOUND, MODEL_INVALID, MODEL_CORRUPT, ENGINE_OVERLOADED */
  static async open(options: EmbedderOptions): Promise<NativeEmbedder> {
    const handle = await awaitNative(() => addon().embedderOpen(options));
    return new NativeEmbedder(
      handle,
      callNative(() => addon().embedderInfo(handle)),
    );
  }

  /**
   * One pass: the vectors of all texts end to end. `seconds`: per text where its second segment
   * begins; left out: no text has one.
   * @throws TesseraError REQUEST_INVALID, MODEL_NOT_FINITE
   */
  embed(
    texts: readonly ArrayLike<number>[],
    seconds: readonly number[] = [],
  ): Promise<EmbeddedPass> {
    const offsets = new Uint32Array(texts.length + 1);
    for (const [i, text] of texts.entries()) offsets[i + 1] = (offsets[i] ?? 0) + text.length;
    const tokens = new Uint32Array(offsets[texts.length] ?? 0);
    for (const [i, text] of texts.entries()) tokens.set(text, offsets[i]);
    return awaitNative(() =>
      addon().embedderEmbed(this.handle, tokens, offsets, Uint32Array.from(seconds)),
    );
  }

  /** Idempotent. Passes under way end first. */
  close(): void {
    callNative(() => addon().embedderClose(this.handle));
  }
}
