import { NativeEmbedder } from '@tessera/engine';
import pMap from 'p-map';
import { TEXTS_AT_ONCE, TextTokenMaker } from './domain/text-tokens.js';
import { readTextFolder } from './outside/text-folder.js';

/** Maximum rows of a pass. */
const ROWS_MAX = 4096;
const TEXTS_MAX = 256;

export interface StaticScales {
  /** Path of the file, beside the encoder's checkpoint. */
  readonly path: string;
  /** Tokens that were measured. */
  readonly tokens: number;
  /** Texts of which the last tokens were left out. */
  readonly truncated: number;
}

/**
 * Measures what enters the products of an encoder's layers over these texts, and writes the static
 * scales of it, which computeType `w8a8-static` needs (docs/operate/quantisation.md).
 * @throws TesseraError REQUEST_INVALID, MODEL_*, TOKENIZER_INVALID, ENGINE_OVERLOADED, IO_FAILED
 */
export async function measureTexts(
  modelPath: string,
  texts: readonly string[],
  threadCount: number,
): Promise<StaticScales> {
  const { tokenizer, tokensMax } = await readTextFolder(modelPath);
  const embedder = await NativeEmbedder.open({
    modelPath,
    computeType: 'f32',
    threadCount,
    rowsMax: ROWS_MAX,
    textsMax: TEXTS_MAX,
  });
  try {
    const maker = await TextTokenMaker.of(tokenizer, Math.min(tokensMax, embedder.info.tokensMax));
    const made = await pMap(texts, (text) => maker.tokensOf(text), { concurrency: TEXTS_AT_ONCE });
    const { path, rows } = await embedder.measure(made.map(({ tokens }) => tokens));
    const truncated = made.filter(({ isTruncated }) => isTruncated).length;
    return { path, tokens: rows, truncated };
  } finally {
    embedder.close();
  }
}
