import { TesseraError } from '@tessera/errors';
import { expect, it, vi } from 'vitest';
import { AdmittedCalls, classAt, classIn } from './admitted-calls.js';
import { encoded } from './grpc/message-fields.js';

const RECALL = '/tessera.recall.v1.RecallService/Recall';
const HISTORY = '/tessera.behaviour.v1.BehaviourService/History';
const LIMITS = { defaultDeadlineMs: 9000, deadlineMsMax: 10_000 };
const NEVER = Number.POSITIVE_INFINITY;

const asked = { cls: 1, deadlineMs: NEVER, isGone: () => false } as const;

it('holds a place for as long as a call is on its way, on each path', async () => {
  const calls = new AdmittedCalls(LIMITS);
  const { decoder } = calls.admissions;
  const ways: (() => Promise<unknown>)[] = [
    async () => expect(decoder.inFlight).toBe(1),
    () => Promise.reject(new TesseraError('ENGINE_OVERLOADED', 'busy')),
    () => Promise.reject(new Error('a bug')),
  ];
  for (const way of ways) {
    await calls.run(RECALL, asked, way).catch(() => undefined);
    expect(decoder.inFlight).toBe(0);
  }
});

it('lets calls of methods without a queue pass', async () => {
  const calls = new AdmittedCalls(LIMITS);
  await calls.run(HISTORY, asked, async () => {
    expect(Object.values(calls.admissions).map(({ inFlight }) => inFlight)).toEqual([0, 0, 0]);
  });
});

it('refuses what would be answered behind its deadline', async () => {
  vi.useFakeTimers();
  try {
    const calls = new AdmittedCalls(LIMITS);
    const ends: (() => void)[] = [];
    const pass = () =>
      calls.run(RECALL, asked, () => new Promise<void>((done) => void ends.push(done)));
    const passing = Array.from({ length: 20 }, pass);
    for (let answer = 0; answer < 100; answer += 1) {
      await vi.advanceTimersByTimeAsync(100);
      ends.shift()?.();
      await vi.advanceTimersByTimeAsync(0);
      passing.push(pass());
    }
    const late = { ...asked, deadlineMs: Date.now() + 200 };
    const act = vi.fn();
    await expect(calls.run(RECALL, late, act)).rejects.toThrow(/^queue too long: expected wait/);
    expect(act).not.toHaveBeenCalled();
    for (const end of ends) end();
    await Promise.all(passing);
    expect(calls.admissions.decoder.inFlight).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

it('reads the class of priority of a message and of a body', () => {
  const message = (priority: number) =>
    encoded('tessera.recall.v1.RecallRequest', { userId: 'u', priority });
  expect([0, 1, 2, 3].map((priority) => classAt(RECALL, message(priority)))).toEqual([1, 0, 1, 2]);
  expect(classAt(HISTORY, message(1))).toBe(1);
  expect(['high', 'normal', 'low', undefined, 'odd'].map(classIn)).toEqual([0, 1, 2, 1, 1]);
});
