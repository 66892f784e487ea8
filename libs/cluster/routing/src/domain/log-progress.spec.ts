import { expect, it } from 'vitest';
import { LogProgress, type LogWord, NO_LOG } from './log-progress.js';

const word = (offset: number, more: Partial<LogWord> = {}): LogWord =>
  Object.assign(
    { identity: 'log', offset, digest: `d${offset}`, fault: '', isStopped: false },
    more,
  );

const of = (...words: readonly LogWord[]) =>
  new Map(words.map((one, n) => [['a', 'b', 'c'][n] ?? '', one]));

it('leaves a node out that is not where another one was five seconds ago', () => {
  const progress = new LogProgress();
  const note = (nowMs: number, ...words: readonly LogWord[]) => progress.note(of(...words), nowMs);
  expect(note(0, word(7), word(7)).size).toBe(0);
  expect(note(1000, word(9), word(7)).size).toBe(0);
  // It may be behind what comes all the time, as long as it comes too.
  expect(note(5999, word(20), word(8)).size).toBe(0);
  expect([...note(6000, word(20), word(8))]).toEqual([
    ['b', { kind: 'log', expected: 'entry 9', got: 'entry 8' }],
  ]);
  expect(note(6500, word(20), word(9)).size).toBe(0);
  expect([...note(10_999, word(20), word(19))]).toEqual([
    ['b', { kind: 'log', expected: 'entry 20', got: 'entry 19' }],
  ]);
  expect(note(11_000, word(20), word(20)).size).toBe(0);
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

it('keeps a node that has stopped following and serves on', () => {
  const progress = new LogProgress();
  progress.note(of(word(7), word(7)), 0);
  const stopped = word(7, { isStopped: true });
  expect(progress.note(of(word(9), stopped), 20_000).size).toBe(0);
});
