import { describe, expect, it } from 'vitest';
import { type AdmissionPlace, AnswerLimit } from './answer-limit.js';
import type { PriorityClass } from './class-shares.js';

const STEP_MS = 1;

interface Wanted {
  readonly offeredPerSecond: number;
  readonly seconds: number;
  /** Calls a second that the server answers, oldest first. */
  readonly ratePerSecond: number;
  readonly deadlineMs: readonly [number, number];
  /** So many calls are answered at once; 1 where absent. */
  readonly batch?: number;
  /** Callers go so long after they came; left out: they wait. */
  readonly goneAfterMs?: number;
  /** Class of all calls; left out: each in turn. */
  readonly only?: PriorityClass;
}

interface Admission {
  readonly admittedMs: number;
  readonly call: AdmissionPlace;
  readonly cls: PriorityClass;
  readonly lateAfterMs: number;
}

/** A server of a fixed rate that works off what was admitted, on a clock of its own. */
class Server {
  nowMs = 1000;
  readonly admission = new AnswerLimit(() => this.nowMs);
  private queue: Admission[] = [];
  private due = 0;
  private owed = 0;
  private random = 7;

  private uniform(): number {
    this.random = (Math.imul(this.random, 1664525) + 1013904223) >>> 0;
    return this.random / 2 ** 32;
  }

  run({ offeredPerSecond, seconds, ratePerSecond, deadlineMs, batch = 1, ...rest }: Wanted) {
    const { only, goneAfterMs = Number.POSITIVE_INFINITY } = rest;
    const outcome = { offered: 0, good: [0, 0, 0], late: 0, refused: 0 };
    const endMs = this.nowMs + seconds * 1000;
    while (this.nowMs < endMs) {
      this.nowMs += STEP_MS;
      for (this.due += (offeredPerSecond * STEP_MS) / 1000; this.due >= 1; this.due -= 1) {
        const cls = only ?? ((outcome.offered % 3) as PriorityClass);
        outcome.offered += 1;
        const budgetMs = deadlineMs[0] + this.uniform() * (deadlineMs[1] - deadlineMs[0]);
        const call = this.admission.admit(cls, budgetMs);
        if ('retryAfterMs' in call) {
          outcome.refused += 1;
          expect(call.retryAfterMs).toBeGreaterThan(0);
        } else
          this.queue.push({
            admittedMs: this.nowMs,
            call,
            cls,
            lateAfterMs: this.nowMs + budgetMs,
          });
      }
      while ((this.queue[0]?.admittedMs ?? this.nowMs) < this.nowMs - goneAfterMs) {
        this.queue.shift()?.call.giveBack('gone');
      }
      this.owed += (ratePerSecond * STEP_MS) / 1000;
      for (let due = Math.floor(this.owed / batch) * batch; due > 0; due -= 1) {
        const next = this.queue.shift();
        if (next === undefined) {
          this.owed = 0;
          break;
        }
        this.owed -= 1;
        next.call.giveBack('answered');
        if (this.nowMs > next.lateAfterMs) outcome.late += 1;
        else outcome.good[next.cls] = (outcome.good[next.cls] ?? 0) + 1;
      }
    }
    const good = outcome.good.reduce((sum, count) => sum + count, 0);
    return {
      ...outcome,
      goodPerSecond: good / seconds,
      lateShare: outcome.late / (good + outcome.late),
    };
  }
}

const WEIGHTS = [4, 2, 1];

/** Of the classes' parts of the answers from 4:2:1, as a part of that part. */
function farthest(good: readonly number[]): number {
  const sum = good.reduce((total, count) => total + count, 0);
  return Math.max(
    ...good.map((count, cls) => Math.abs((count / sum) * (7 / (WEIGHTS[cls] ?? 1)) - 1)),
  );
}

const LOAD = { ratePerSecond: 500, deadlineMs: [50, 500] as const, seconds: 10 };

describe('AnswerLimit', () => {
  it.each([3, 10])(
    'keeps goodput at capacity and answers in time at %i times the load',
    (factor) => {
      const server = new Server();
      server.run({ ...LOAD, offeredPerSecond: 500 * factor, seconds: 3 });
      const outcome = server.run({ ...LOAD, offeredPerSecond: 500 * factor });
      expect(outcome.goodPerSecond).toBeGreaterThan(0.97 * 500);
      expect(outcome.lateShare).toBeLessThan(0.01);
      expect(farthest(outcome.good)).toBeLessThan(0.03);
    },
  );

  it('refuses nothing below capacity, and nothing soon after an overload', () => {
    const server = new Server();
    expect(server.run({ ...LOAD, offeredPerSecond: 400 }).refused).toBe(0);
    server.run({ ...LOAD, offeredPerSecond: 5000 });
    server.run({ ...LOAD, offeredPerSecond: 400, seconds: 2 });
    expect(server.run({ ...LOAD, offeredPerSecond: 400 }).refused).toBe(0);
  });

  it('keeps what it learned of one overload for the next', () => {
    const server = new Server();
    server.run({ ...LOAD, offeredPerSecond: 1500 });
    server.run({ ...LOAD, offeredPerSecond: 450, seconds: 120 });
    const onset = server.run({ ...LOAD, offeredPerSecond: 1500, seconds: 2 });
    // Of those that were let in before the overload was seen.
    expect(onset.lateShare).toBeLessThan(0.03);
  });

  it.each([
    [3, 0.95],
    [10, 0.95],
    [0.5, 0.4],
  ])(
    'keeps to capacity where few are answered, in batches, at %d times the load',
    (factor, least) => {
      const slow = { ratePerSecond: 36, deadlineMs: [150, 1500] as const, batch: 12 };
      const server = new Server();
      server.run({ ...slow, offeredPerSecond: 36 * 3, seconds: 5 });
      const outcome = server.run({ ...slow, offeredPerSecond: 36 * factor, seconds: 40 });
      expect(outcome.goodPerSecond).toBeGreaterThan(least * 36);
      expect(outcome.lateShare).toBeLessThan(0.05);
    },
  );

  it('learns a lower and a higher capacity', () => {
    const server = new Server();
    server.run({ ...LOAD, offeredPerSecond: 5000, seconds: 5 });
    server.run({ ...LOAD, ratePerSecond: 150, offeredPerSecond: 5000, seconds: 5 });
    const slow = server.run({ ...LOAD, ratePerSecond: 150, offeredPerSecond: 5000 });
    expect([slow.goodPerSecond > 140, slow.lateShare < 0.01]).toEqual([true, true]);
    server.run({ ...LOAD, ratePerSecond: 1500, offeredPerSecond: 5000, seconds: 5 });
    const fast = server.run({ ...LOAD, ratePerSecond: 1500, offeredPerSecond: 5000 });
    expect(fast.goodPerSecond).toBeGreaterThan(1400);
  });

  it('does not forget its rate while nothing is asked for', () => {
    const server = new Server();
    server.run({ ...LOAD, offeredPerSecond: 5000, seconds: 3 });
    const { capacity } = server.admission;
    server.run({ ...LOAD, offeredPerSecond: 0, seconds: 1 });
    server.nowMs += 600_000;
    server.run({ ...LOAD, offeredPerSecond: 50, seconds: 1 });
    expect(server.admission.capacity).toBeGreaterThan(0.9 * capacity);
  });

  it('does not take calls that were refused further in for answers', () => {
    const server = new Server();
    const { admission } = server;
    server.run({ ...LOAD, offeredPerSecond: 5000, seconds: 3 });
    const before = admission.capacity;
    const waiting = Array.from({ length: 9 }, () => admission.admit(0, 1e6) as AdmissionPlace);
    for (let i = 0; i < 3000; i++) {
      server.nowMs += 1;
      const call = admission.admit(1, 1e6);
      if ('retryAfterMs' in call) continue;
      call.giveBack('refused');
    }
    expect(admission.capacity).toBeLessThanOrEqual(before);
    for (const call of waiting) call.giveBack('gone');
  });

  it('learns no rate of calls that were taken back', () => {
    let nowMs = 1000;
    const limit = new AnswerLimit(() => nowMs);
    const all = () => Array.from({ length: 200 }, () => limit.admit(1, 20_000));
    const places = all().filter((one) => 'giveBack' in one);
    // The first is answered after a second, as the first of many is; callers of the others went.
    for (const end of ['answered', ...Array(199).fill('gone')] as const) {
      if (end === 'answered') {
        for (const endMs = nowMs + 1100; nowMs < endMs; nowMs += 50) limit.refuses(1, 20_000);
      }
      places.pop()?.giveBack(end);
    }
    nowMs += 150;
    expect(all().every((one) => 'giveBack' in one)).toBe(true);
    expect(limit.neededMs).toBeLessThan(5000);
  });

  it.each([1.5, 3])('refuses at %s times the capacity also where callers go early', (load) => {
    const server = new Server();
    const { goodPerSecond } = server.run({
      offeredPerSecond: load * 500,
      seconds: 30,
      ratePerSecond: 500,
      deadlineMs: [1000, 1000],
      goneAfterMs: 500,
      only: 1,
    });
    expect([server.admission.capacity < 600, goodPerSecond > 200]).toEqual([true, true]);
  });

  it('gives a place back once, and takes none for a call whose request is still to come', () => {
    const server = new Server();
    const { admission } = server;
    server.run({ ...LOAD, offeredPerSecond: 5000, seconds: 3 });
    const before = admission.inFlight;
    for (let i = 0; i < 1000; i++) admission.refuses(1, 1e6);
    expect(admission.inFlight).toBe(before);
    const call = admission.admit(1, 1e6) as AdmissionPlace;
    expect(admission.inFlight).toBe(before + 1);
    for (let i = 0; i < 3; i++) call.giveBack('answered');
    expect(admission.inFlight).toBe(before);
    expect(admission.refuses(1, 0.001)).toEqual({ retryAfterMs: expect.any(Number) });
  });

  it('admits a call that nothing else is ahead of, whatever it has learned', () => {
    const server = new Server();
    server.run({ ...LOAD, ratePerSecond: 10, offeredPerSecond: 500, seconds: 30 });
    const idle = server.run({ ...LOAD, ratePerSecond: 1000, offeredPerSecond: 1, seconds: 5 });
    expect(idle.refused).toBe(0);
  });

  it('holds back no class that asks alone, as long as its calls end in time', () => {
    const server = new Server();
    const one = { ratePerSecond: 100, deadlineMs: [5000, 5000] as const, only: 1 as const };
    server.run({ ...one, offeredPerSecond: 100, seconds: 3 });
    expect(server.run({ ...one, offeredPerSecond: 150, seconds: 4 }).refused).toBe(0);
  });
});
