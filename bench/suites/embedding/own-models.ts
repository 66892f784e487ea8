import { loadConfig } from '@tessera/config';
import { openEmbedding } from '../../../apps/standalone/src/embedding.js';

export type TextPrecision = 'f32' | 'bf16' | 'w8a8';

export interface Setting {
  /** Hugging Face folder. */
  readonly modelPath: string;
  readonly threads: number;
}

/** The models of texts as a process serves them, this one model in it. */
export function openOwn({ modelPath, threads }: Setting, computeType: TextPrecision) {
  const { embedding, engine } = loadConfig().config;
  const own = {
    embedding: Object.assign({}, embedding, { models: `bench=${modelPath}`, computeType }),
    engine,
  };
  return openEmbedding(own, { threadCount: threads });
}
