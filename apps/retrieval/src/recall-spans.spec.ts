import { describe, expect, it } from 'vitest';
import { recallSpans } from './recall-spans.js';

const TIMINGS = {
  featuresUs: 100,
  promptUs: 50,
  queueUs: 10,
  planUs: 1,
  prefillUs: 400,
  decodeUs: 200,
  projectionsUs: 500,
  attentionUs: 60,
  headUs: 20,
  selectUs: 5,
  forkUs: 2,
  exportUs: 7,
  totalUs: 800,
};
const KV = {
  tokensByTier: { device: 32, host: 0, disk: 64 },
  sharedTokens: 0,
  computedTokens: 5,
  savedTokens: 96,
  lossy: true,
  inheritedTokens: 64,
  versionsBack: 2,
  waitUs: 30,
};

describe('the spans of a recall', () => {
  const spans = recallSpans(TIMINGS, KV, { a: 1 });
  const named = (name: string) => spans.find((span) => span.name === name);

  it('begins features and prefetch together', () => {
    expect(named('features')).toMatchObject({ startUs: 0, endUs: 100 });
    expect(named('kv.prefetch')).toMatchObject({
      startUs: 0,
      endUs: 190,
      attributes: { deviceTokens: 32, diskTokens: 64, lossy: true, versionsBack: 2, waitUs: 30 },
    });
  });

  it('lays the stages of the engine end to end inside of it', () => {
    const engine = named('engine');
    expect(engine).toMatchObject({
      startUs: 150,
      endUs: 800,
      attributes: { a: 1, computedTokens: 5 },
    });
    const stages = engine?.children ?? [];
    expect(stages.map(({ name, startUs, endUs }) => [name, startUs, endUs])).toEqual([
      ['queue', 0, 10],
      ['plan', 10, 11],
      ['prefill', 11, 411],
      ['steps', 411, 638],
      ['export', 638, 645],
    ]);
  });
});
