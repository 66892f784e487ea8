import { describe, expect, it } from 'vitest';
import { computeUs, type LoadQuestion, type LowerTier, planLoad } from './load-plan.js';

const rates = (near: number, far: number, tokenUs: number, pairUs = 0) => ({
  bytesPerUs: { disk: near, shared: far },
  tokenUs,
  pairUs,
});

const of = (given: Partial<LoadQuestion>): LoadQuestion => {
  const whole = {
    memoryTokens: 0,
    promptTokens: 330,
    missing: Array.from({ length: 10 }, (): LowerTier => 'shared'),
    blockTokens: 32,
    blockBytes: 1000,
    hiddenUs: 0,
    queuedBytes: { disk: 0, shared: 0 },
  };
  return Object.assign(whole, given);
};

// The cases of native/src/kv/slot_test.cc.
describe('planLoad', () => {
  it('loads what is cheaper than computing it', () => {
    const cheap = planLoad(of({}), rates(0, 10, 10));
    expect([cheap.blocks, cheap.predictedUs]).toEqual([10, 1000 + 100]);
    const dear = planLoad(of({}), rates(0, 2, 10));
    expect([dear.blocks, dear.predictedUs, dear.computeAllUs]).toEqual([0, 3300, 3300]);
    const hidden = planLoad(of({ hiddenUs: 2000 }), rates(0, 2, 10));
    expect([hidden.blocks, hidden.predictedUs]).toEqual([4, 3300 - 4 * 320]);
  });

  it('gives what the best of all cuts gives', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const missing: LowerTier[] = [
        ...Array.from({ length: seed % 7 }, (): LowerTier => 'disk'),
        ...Array.from({ length: seed % 5 }, (): LowerTier => 'shared'),
      ];
      const question = of({
        memoryTokens: 32 * (seed % 3),
        promptTokens: 100 + seed * 3,
        missing,
        blockBytes: 4096,
        hiddenUs: (seed * 17) % 400,
        queuedBytes: { disk: 0, shared: seed * 100 },
      });
      const asked = rates(100, 5 + (seed % 60), 1 + (seed % 9), 0.001);
      const cuts = Array.from({ length: missing.length + 1 }, (_, count) => {
        const loaded = missing.slice(0, count);
        const queued = loaded.includes('shared') ? seed * 100 : 0;
        const shared = loaded.filter((tier) => tier === 'shared').length * 4096 + queued;
        const disk = loaded.filter((tier) => tier === 'disk').length * 4096;
        const loadUs = shared / asked.bytesPerUs.shared + disk / asked.bytesPerUs.disk;
        const context = Math.min(question.promptTokens, question.memoryTokens + 32 * count);
        const exposedUs = Math.max(0, loadUs - question.hiddenUs);
        return exposedUs + computeUs(context, question.promptTokens, asked);
      });
      expect(planLoad(question, asked).predictedUs, `seed ${seed}`).toBeCloseTo(
        Math.min(...cuts),
        6,
      );
    }
  });
});
