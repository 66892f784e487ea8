import { expect, it } from 'vitest';
import { fitTwo, fitted, type Timed } from './costs.js';
import { least } from './fleet.js';

it('finds two unknowns of exact samples, and none below nothing', () => {
  const samples = (a: number, b: number) =>
    [1, 2, 5, 9].map((n) => ({ x: n * n, z: n, y: a * n * n + b * n }));
  const [a, b] = fitTwo(samples(3, 7));
  expect(a).toBeCloseTo(3);
  expect(b).toBeCloseTo(7);
  expect(fitTwo(samples(-1, 20))[0]).toBe(0);
  expect(fitTwo(samples(20, -1))[1]).toBe(0);
  const same = [1, 2].map((n) => ({ x: n, z: n, y: 5 * n }));
  expect(fitTwo(same)).toEqual([0, 5]);
});

it('fits costs to recalls that had the machine to themselves', () => {
  const [tokenUs, pairUs, passUs, rowUs, steps] = [400, 0.2, 300, 500, 4];
  const timed = [32, 100, 400, 900].map((promptTokens, at): Timed => {
    const rows = 40 + 8 * at;
    return {
      promptTokens,
      computedTokens: promptTokens,
      rows,
      prefillUs: promptTokens * tokenUs + (promptTokens ** 2 / 2) * pairUs,
      decodeUs: steps * passUs + rows * (rowUs + promptTokens * pairUs),
    };
  });
  const costs = fitted(timed, steps, 768);
  expect(costs.tokenUs).toBeCloseTo(tokenUs);
  expect(costs.pairUs).toBeCloseTo(pairUs);
  expect(costs.passUs).toBeCloseTo(passUs);
  expect(costs.rowUs).toBeCloseTo(rowUs);
  expect(costs.rows).toBe(52 / steps);
});

it.each([1, 2, 3, 7, 64, 65, 1000])('finds %i nodes where so many are enough', (enough) => {
  const tried = (nodes: number) => ({ fleet: nodes, isEnough: nodes >= enough });
  expect(least(tried)).toBe(enough);
});

it('finds none where a thousand are too few', () => {
  expect(least((nodes) => ({ fleet: nodes, isEnough: nodes > 1000 }))).toBeUndefined();
});
