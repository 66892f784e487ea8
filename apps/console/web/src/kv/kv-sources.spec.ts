import { expect, it } from 'vitest';
import { ageOf, type PromptSources, sourcesOf, usPerToken } from './kv-sources.js';

const KV: PromptSources = {
  tokensByTier: { device: 32, host: 0, disk: 32 },
  sharedTokens: 3,
  computedTokens: 20,
};

it('splits a range over the sources that it crosses, and each token has one', () => {
  expect(sourcesOf([0, 6], KV)).toEqual([{ source: 'device', tokens: 6 }]);
  expect(sourcesOf([30, 34], KV)).toEqual([
    { source: 'device', tokens: 2 },
    { source: 'disk', tokens: 2 },
  ]);
  expect(sourcesOf([62, 70], KV)).toEqual([
    { source: 'disk', tokens: 2 },
    { source: 'shared', tokens: 3 },
    { source: 'computed', tokens: 3 },
  ]);
  const all = Array.from({ length: 87 }, (_, at) => sourcesOf([at, at + 1], KV));
  expect(all.map((one) => one.length)).toEqual(Array.from({ length: 87 }, () => 1));
});

it('has every tier of the recall, also those that are not the first three', () => {
  const tokensByTier = { device: 32, host: 0, disk: 16, remote: 16 };
  expect(sourcesOf([40, 66], { ...KV, tokensByTier })).toEqual([
    { source: 'disk', tokens: 8 },
    { source: 'remote', tokens: 16 },
    { source: 'shared', tokens: 2 },
  ]);
});

it('tells what a token costs where enough were computed', () => {
  expect(usPerToken(KV, 400)).toBe(20);
  expect(usPerToken({ ...KV, computedTokens: 15 }, 400)).toBeUndefined();
});

it('tells how old is what an adapter went on with', () => {
  expect(ageOf(1)).toBe('one adapter version before');
  expect(ageOf(3)).toBe('up to 3 adapter versions before');
});
