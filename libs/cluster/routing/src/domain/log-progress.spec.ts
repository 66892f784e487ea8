import { describe, expect, it } from 'vitest';
import { LogProgress, type LogWord, NO_LOG } from './log-progress.js';

const seededRandom = (seed: number) => {
  let state = seed;
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
};

const word = (offset: number, more: Partial<LogWord> = {}): LogWord =>
  Object.assign(
    { identity: 'log', offset, digest: `d${offset}`, fault: '', isStopped: false },
    more,
  );

const of = (...words: readonly LogWord[]) =>
  new Map(words.map((one, n) => [['a', 'b', 'c'][n] ?? '', one]));

it('leaves a node out that is not where another one was three seconds ago', () => {
  const progress = new LogProgress();
  const note = (nowMs: number, ...words: readonly LogWord[]) => progress.note(of(...words), nowMs);
  expect(note(0, word(7), word(7)).size).toBe(0);
  expect(note(1000, word(9), word(7)).size).toBe(0);
  // It may be behind what comes all the time, as long as it comes too.
  expect(note(3999, word(20), word(8)).size).toBe(0);
  expect([...note(4000, word(20), word(8))]).toEqual([
    ['b', { kind: 'log', expected: 'entry 9', got: 'entry 8' }],
  ]);
  expect(note(4500, word(20), word(9)).size).toBe(0);
  expect([...note(7999, word(20), word(19))]).toEqual([
    ['b', { kind: 'log', expected: 'entry 20', got: 'entry 19' }],
  ]);
  expect(note(8000, word(20), word(20)).size).toBe(0);
});

it('counts nobody: the node that is ahead says where all have to be', () => {
  const progress = new LogProgress();
  progress.note(of(word(5), word(1), word(1)), 0);
  expect([...progress.note(of(word(5), word(1), word(1)), 5000).keys()]).toEqual(['b', 'c']);
});

it('leaves a node out that follows another log, or none, and says which', () => {
  const progress = new LogProgress();
  progress.note(of(word(3), word(3)), 0);
  const lags = progress.note(of(word(3), word(900, { identity: 'other' }), NO_LOG), 500);
  expect([...lags]).toEqual([
    ['b', { kind: 'log', expected: 'log', got: 'other' }],
    ['c', { kind: 'log', expected: 'log', got: 'none' }],
  ]);
  // Its entries are none of this log.
  expect(progress.note(of(word(3), word(3)), 9000).size).toBe(0);
});

it('leaves a node out that says itself why, and does not choose its log', () => {
  const progress = new LogProgress();
  const faulty = word(3, { identity: 'old', fault: 'an older copy' });
  expect([...progress.note(of(faulty, word(8)), 0)]).toEqual([
    ['a', { kind: 'log', expected: 'the state that it says', got: 'an older copy' }],
  ]);
});

it('takes the log that is there where nobody follows the one before any more', () => {
  const progress = new LogProgress();
  progress.note(of(word(900), word(900)), 0);
  const renewed = word(1, { identity: 'new' });
  expect(progress.note(of(renewed, renewed), 6000).size).toBe(0);
  expect(progress.note(of(renewed, word(900)), 6500).size).toBe(1);
});

it('says nothing of nodes without a log, nor of nobody', () => {
  const progress = new LogProgress();
  expect(progress.note(new Map(), 0).size).toBe(0);
  expect(progress.note(of(NO_LOG, NO_LOG), 9000).size).toBe(0);
});

describe('nodes that stopped, because the log lost what they have applied,', () => {
  const stopped = (offset: number, digest = `d${offset}`) =>
    word(offset, { digest, isStopped: true });
  const left = (...words: readonly LogWord[]) => [
    ...new LogProgress().note(of(...words), 0).keys(),
  ];

  it('serve on while nobody follows the log', () => {
    expect(left(stopped(7), stopped(7), stopped(7))).toEqual([]);
  });

  it('serve in place of those with fewer entries', () => {
    expect(left(stopped(13), stopped(13), word(11))).toEqual(['c']);
    expect(left(stopped(13), stopped(11), word(11))).toEqual(['b', 'c']);
  });

  it('serve in place of those that have other entries up to the same offset', () => {
    expect(left(stopped(13), word(13, { digest: 'other' }))).toEqual(['b']);
    expect(left(word(13), stopped(13))).toEqual([]);
  });

  it('serve no more where others have gone on beyond them', () => {
    expect(left(stopped(13), stopped(13), word(14))).toEqual(['a', 'b']);
  });

  it('are never up beside a node with another state', () => {
    const draw = seededRandom(7);
    for (let turn = 0; turn < 2000; turn += 1) {
      const words = Array.from({ length: 3 }, () =>
        word(draw(4), { digest: `d${draw(2)}`, isStopped: draw(2) === 0 }),
      );
      const lags = new LogProgress().note(of(...words), 0);
      const up = words.filter((_, at) => !lags.has(['a', 'b', 'c'][at] ?? ''));
      expect(up.length).toBeGreaterThan(0);
      if (!up.some(({ isStopped }) => isStopped)) continue;
      expect(new Set(up.map(({ offset, digest }) => `${offset} ${digest}`)).size).toBe(1);
    }
  });
});
