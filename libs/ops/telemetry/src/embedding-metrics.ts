/** Metrics of models of texts. */

import { MICROSECONDS_PER_SECOND } from '@tessera/units';
import { Gauge, type Registry } from 'prom-client';
import { copyCounts } from './tallies.js';

export const EMBEDDING_METRICS = {
  embeddingTexts: {
    name: 'tessera_embedding_texts_total',
    meaning: 'texts embedded, by model',
  },
  embeddingTokens: {
    name: 'tessera_embedding_tokens_total',
    meaning: 'tokens of embedded texts, by model',
  },
  embeddingTruncated: {
    name: 'tessera_embedding_truncated_texts_total',
    meaning: 'texts truncated to the token limit, by model',
  },
  embeddingPasses: {
    name: 'tessera_embedding_passes_total',
    meaning: 'forward passes of text encoders, by model',
  },
  embeddingCompute: {
    name: 'tessera_embedding_compute_seconds_total',
    meaning: 'seconds of encoder passes, excluding pauses for recalls, by model',
  },
  embeddingWaiting: {
    name: 'tessera_embedding_waiting_texts',
    meaning: 'texts waiting for a pass, by model',
  },
} as const;

/** State as libs/service/embedding reports it. */
export interface EmbeddingState {
  readonly model: string;
  readonly depth: number;
  readonly texts: number;
  readonly tokens: number;
  readonly truncated: number;
  readonly passes: number;
  readonly computeUs: number;
}

export function registerEmbeddingMetrics(
  registry: Registry,
  read: () => readonly EmbeddingState[],
): void {
  const M = EMBEDDING_METRICS;
  const counted = (
    metric: (typeof M)[keyof typeof M],
    countOf: (state: EmbeddingState) => number,
  ) => {
    copyCounts(registry, metric, 'model', () =>
      Object.fromEntries(read().map((state) => [state.model, countOf(state)])),
    );
  };
  counted(M.embeddingTexts, ({ texts }) => texts);
  counted(M.embeddingTokens, ({ tokens }) => tokens);
  counted(M.embeddingTruncated, ({ truncated }) => truncated);
  counted(M.embeddingPasses, ({ passes }) => passes);
  counted(M.embeddingCompute, ({ computeUs }) => computeUs / MICROSECONDS_PER_SECOND);
  new Gauge({
    name: M.embeddingWaiting.name,
    help: M.embeddingWaiting.meaning,
    labelNames: ['model'],
    registers: [registry],
    collect() {
      for (const { model, depth } of read()) this.set({ model }, depth);
    },
  });
}
