import type { RecallAnswer } from '@tessera/recall';
import { describe, expect, it } from 'vitest';
import { PulseMeter, SAMPLES_MAX } from './pulse.js';
import { parseWatchedUsers, reasonToRecord } from './sampling.js';
import { treeBytes, treeRows } from './tree-rows.js';

describe('sampling', () => {
  const rules = { percent: 25, users: parseWatchedUsers(' ann, bob ,,') };
  const plain = { isAskedFor: false, userId: undefined, isDrawn: false };
  const reason = (
    recall: { isAskedFor?: boolean; userId?: string; isDrawn?: boolean },
    draw: number,
  ) => reasonToRecord(Object.assign({}, plain, recall), rules, draw);

  it('records what is asked for, then watched users, then draws, then the share', () => {
    expect(reason({ isAskedFor: true, userId: 'ann' }, 0)).toBe('request');
    expect(reason({ userId: 'ann' }, 0.99)).toBe('user');
    expect(reason({ userId: 'ann', isDrawn: true }, 0.99)).toBe('user');
    expect(reason({ userId: 'carl', isDrawn: true }, 0.99)).toBe('draw');
    expect(reason({ userId: 'carl' }, 0.2499)).toBe('share');
    expect(reason({ userId: 'carl' }, 0.25)).toBeUndefined();
    expect(reason({ userId: '' }, 0.99)).toBeUndefined();
  });

  it('records nothing of a share of nothing and everything of all', () => {
    const asked = plain;
    expect(reasonToRecord(asked, { percent: 0, users: new Set() }, 0)).toBeUndefined();
    expect(reasonToRecord(asked, { percent: 100, users: new Set() }, 0.999_999)).toBe('share');
  });
});

describe('tree rows', () => {
  it('come back from their bytes', () => {
    const none = 0xffff_ffff;
    const cells = Uint32Array.of(
      0,
      none,
      7,
      1,
      12,
      1,
      0,
      none,
      2 | 4,
      512,
      1,
      0,
      3,
      0,
      1,
      1,
      0,
      9,
      1 | 8,
      3,
    );
    const scores = Float32Array.of(-0.5, -1.25, -7, -3);
    expect(treeRows(treeBytes({ cells, scores }))).toEqual([
      { step: 0, parent: -1, code: 7, score: -0.5, items: 12, ...marks('goesOn') },
      { step: 1, parent: 0, code: -1, score: -1.25, items: 512, ...marks('endsHere', 'atLeast') },
      { step: 1, parent: 0, code: 3, score: -7, items: 1, ...marks() },
      { step: 1, parent: 0, code: 9, score: -3, items: 3, ...marks('goesOn', 'provedOut') },
    ]);
    expect(treeRows(treeBytes(undefined))).toEqual([]);
  });

  function marks(...set: readonly string[]) {
    const names = ['goesOn', 'endsHere', 'atLeast', 'provedOut'];
    return Object.fromEntries(names.map((name) => [name, set.includes(name)]));
  }
});

describe('pulses', () => {
  const answer = (totalUs: number, width: number): RecallAnswer => {
    const names = ['features', 'prompt', 'queue', 'plan', 'prefill', 'decode', 'projections'];
    const more = ['attention', 'head', 'select', 'fork', 'export'];
    const stages = Object.fromEntries([...names, ...more].map((name) => [`${name}Us`, 1]));
    const kv = {
      tokensByTier: { device: 1, host: 2, disk: 3 },
      sharedTokens: 4,
      computedTokens: 5,
    };
    const widthsUsed = [width, width];
    return { timings: { ...stages, totalUs }, kv, widthsUsed, short: width > 10 } as never;
  };

  it('tell counts, widths, tokens and the quantiles of nearest rank', () => {
    const meter = new PulseMeter(1000);
    for (let i = 100; i >= 1; i--) meter.answer(answer(i, i === 1 ? 12 : 4));
    meter.refusal('DEADLINE_EXCEEDED');
    meter.refusal('DEADLINE_EXCEEDED');
    meter.record();
    const pulse = meter.end(6000, 9);
    expect(pulse).toMatchObject({ seconds: 5, answered: 100, short: 1, recorded: 1 });
    expect(pulse.refused).toEqual({ DEADLINE_EXCEEDED: 2 });
    expect(pulse.tokens).toEqual({ device: 100, host: 200, disk: 300, shared: 400, computed: 500 });
    expect(pulse.stagesUs.total).toEqual({ p50: 50, p95: 95, p99: 99 });
    expect([pulse.widthMax, pulse.widthMean]).toEqual([12, 4.08]);
    expect(pulse.catalogueSequence).toBe(9);
  });

  it('keep the times of the newest recalls where there were too many', () => {
    const meter = new PulseMeter(0);
    const kept: number[] = [];
    for (let i = 0; i < 2 * SAMPLES_MAX + 7; i++) {
      const us = (i * 7919) % 10_007; // a permutation, far from any order
      meter.answer(answer(us, 4));
      kept.push(us);
    }
    const sorted = kept.slice(-SAMPLES_MAX).sort((a, b) => a - b);
    const nearest = (share: number) => sorted[Math.ceil(share * SAMPLES_MAX) - 1];
    expect(meter.end(1, 0).stagesUs).toMatchObject({
      total: { p50: nearest(0.5), p95: nearest(0.95), p99: nearest(0.99) },
      queue: { p50: 1, p95: 1, p99: 1 },
    });
  });

  it('of a quiet time tell no times', () => {
    expect(new PulseMeter(0).end(0, 0)).toMatchObject({ seconds: 0, answered: 0, stagesUs: {} });
  });
});
