import { describe, expect, it } from 'vitest';
import { LEVEL_CODES, LEVELS } from './model-shape.js';
import { bf16, normalTable, Random } from './random.js';
import { drawSids, randomPrompt } from './random-catalogue.js';

const floatOf = (bits: number) => new Float32Array(Uint32Array.of(bits << 16).buffer)[0] ?? 0;

describe('random models and catalogues', () => {
  it('round to BF16, ties to even', () => {
    expect([1, -2, 1 + 2 ** -8, 1 + 3 * 2 ** -8].map((value) => floatOf(bf16(value)))).toEqual([
      1,
      -2,
      1,
      1 + 2 ** -6,
    ]);
  });

  it('draw weights of mean nought and of the deviation asked for', () => {
    const values = Array.from(normalTable(0.5), floatOf);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + value * value, 0) / values.length;
    expect(mean).toBeCloseTo(0, 3);
    expect(Math.sqrt(variance)).toBeCloseTo(0.5, 2);
  });

  it('are the same for the same seed and differ for another', () => {
    const draw = (seed: number) => Array.from({ length: 4 }, () => new Random(seed).bits());
    expect(draw(3)).toEqual(draw(3));
    expect(draw(3)).not.toEqual(draw(4));
  });

  it('spread items over all first codes and few children below, all within the level', () => {
    const items = 40_000;
    const sids = drawSids(items);
    const children = new Map<number, Set<number>>();
    for (let at = 0; at < sids.length; at += LEVELS) {
      const first = sids[at] ?? 0;
      children.set(first, (children.get(first) ?? new Set()).add(sids[at + 1] ?? 0));
    }
    expect(children.size).toBe(LEVEL_CODES);
    expect(Math.max(...[...children.values()].map(({ size }) => size))).toBeLessThanOrEqual(64);
    expect(sids.every((code) => code < LEVEL_CODES)).toBe(true);
  });

  it('write prompts as whole items, level by level', () => {
    const sids = Uint16Array.of(5, 6, 7, 8);
    const tokens = [5, LEVEL_CODES + 6, 2 * LEVEL_CODES + 7, 3 * LEVEL_CODES + 8];
    expect([...randomPrompt(sids, 8, 1)]).toEqual([...tokens, ...tokens]);
    expect([...randomPrompt(sids, 2, 1)]).toEqual(tokens.slice(0, 2));
  });
});
