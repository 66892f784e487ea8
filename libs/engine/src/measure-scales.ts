import type { MeasuredScales } from '@tessera/native';
import { addon } from './addon.js';
import { awaitNative } from './native-error.js';

export interface ScaleMeasurementRun {
  readonly modelPath: string;
  /** File to write the activation scales to. */
  readonly outputPath: string;
  readonly threadCount: number;
  /** Rows per thousand whose largest magnitude is represented whole, 1 to 1000. */
  readonly keptPerMille: number;
  readonly prompts: readonly ArrayLike<number>[];
}

/**
 * Measures what enters the linear layers for these prompts and writes fixed activation scales for
 * the compute type w8a8. Resolves with the rows measured and the experts that none of them chose;
 * rejects with REQUEST_INVALID, the codes of a model that cannot be loaded, ENGINE_OVERLOADED or
 * IO_FAILED.
 */
export function measureScales({
  prompts,
  ...options
}: ScaleMeasurementRun): Promise<MeasuredScales> {
  const promptOffsets = new Uint32Array(prompts.length + 1);
  prompts.forEach((prompt, i) => {
    promptOffsets[i + 1] = (promptOffsets[i] ?? 0) + prompt.length;
  });
  const promptTokens = new Int32Array(promptOffsets[prompts.length] ?? 0);
  prompts.forEach((prompt, i) => {
    promptTokens.set(prompt, promptOffsets[i]);
  });
  return awaitNative(() => addon().measureScales({ ...options, promptOffsets, promptTokens }));
}
