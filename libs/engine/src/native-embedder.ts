import type {
  EmbeddedPass,
  EmbedderHandle,
  EmbedderInfo,
  MeasuredTexts,
  TextComputeType,
} from '@tessera/native';
import { addon } from './addon.js';
import { awaitNative, callNative } from './native-error.js';

export interface EmbedderOptions {
  /** Hugging Face or SentenceTransformers folder. */
  readonly modelPath: string;
  readonly computeType: TextComputeType;
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
    const { tokens, offsets } = endToEnd(texts);
    return awaitNative(() =>
      addon().embedderEmbed(this.handle, tokens, offsets, Uint32Array.from(seconds)),
    );
  }

  /**
   * Writes the static scales that `w8a8-static` needs beside the encoder's checkpoint, as measured
   * over these texts by this model, which computes in f32.
   * @throws TesseraError REQUEST_INVALID, MODEL_INVALID, MODEL_NOT_FINITE, IO_FAILED
   */
  measure(texts: readonly ArrayLike<number>[]): Promise<MeasuredTexts> {
    const { tokens, offsets } = endToEnd(texts);
    return awaitNative(() => addon().embedderMeasure(this.handle, tokens, offsets));
  }

  /** Idempotent. Passes under way end first. */
  close(): void {
    callNative(() => addon().embedderClose(this.handle));
  }
}

function endToEnd(texts: readonly ArrayLike<number>[]): {
  readonly tokens: Uint32Array;
  readonly offsets: Uint32Array;
} {
  const offsets = new Uint32Array(texts.length + 1);
  for (const [i, text] of texts.entries()) offsets[i + 1] = (offsets[i] ?? 0) + text.length;
  const tokens = new Uint32Array(offsets[texts.length] ?? 0);
  for (const [i, text] of texts.entries()) tokens.set(text, offsets[i]);
  return { tokens, offsets };
}
