import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type AdmissionPlace, EdgeAdmission } from './edge-admission.js';
import { type Caller, HeldCallers } from './held-callers.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const now = () => vi.getMockedSystemTime()?.getTime() ?? 0;

class Told implements Caller {
  isHeld = false;
  holds = 0;

  hold(): void {
    this.isHeld = true;
    this.holds += 1;
  }

  release(): void {
    this.isHeld = false;
  }
}

/** Refusals beyond their share, of callers in turn. */
function overspend(held: HeldCallers, callers: readonly Caller[], hasRoom = () => false) {
  for (let n = 0; n < 200; n += 1) held.refused(callers[n % callers.length] as Caller, hasRoom);
}

it('holds nobody while refusals keep within their share of the thread', () => {
  const held = new HeldCallers(now, () => 0.5);
  const caller = new Told();
  for (let n = 0; n < 1000; n += 1) {
    vi.advanceTimersByTime(2);
    held.refused(caller, () => false);
  }
  expect(caller.holds).toBe(0);
});

it('holds one after the other, and lets the longest held in where there is room', () => {
  const held = new HeldCallers(now, () => 0.5);
  const callers = [new Told(), new Told(), new Told()];
  let hasRoom = false;
  overspend(held, callers, () => hasRoom);
  expect(callers.map(({ isHeld }) => isHeld)).toEqual([true, false, false]);
  vi.advanceTimersByTime(10);
  overspend(held, callers, () => hasRoom);
  expect(callers.map(({ isHeld }) => isHeld)).toEqual([true, true, false]);
  vi.advanceTimersByTime(10);
  expect(held.count).toBe(2);
  hasRoom = true;
  // Its share of the thread is still overdrawn.
  vi.advanceTimersByTime(60);
  expect(held.count).toBe(2);
  vi.advanceTimersByTime(30);
  expect(callers.map(({ isHeld }) => isHeld)).toEqual([false, true, false]);
  vi.advanceTimersByTime(40);
  expect(held.count).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

it('never holds the last one that sends', () => {
  const held = new HeldCallers(now, () => 0.5);
  const callers = [new Told(), new Told()];
  for (let n = 0; n < 15; n += 1) {
    overspend(held, callers);
    vi.advanceTimersByTime(10);
    expect(held.count).toBe(1);
  }
  const alone = new HeldCallers(now, () => 0.5);
  overspend(alone, [callers[0] as Told]);
  expect(alone.count).toBe(0);
});

it('gives each its turn although there is no room, and no newcomer loses it at once', () => {
  const held = new HeldCallers(now, () => 0.5);
  const callers = [new Told(), new Told()];
  overspend(held, callers);
  vi.advanceTimersByTime(200);
  expect(held.count).toBe(0);
  overspend(held, callers);
  expect(callers.map(({ isHeld }) => isHeld)).toEqual([false, true]);
  vi.advanceTimersByTime(100);
  overspend(held, callers);
  expect(callers.map(({ isHeld }) => isHeld)).toEqual([false, true]);
  vi.advanceTimersByTime(100);
  overspend(held, callers);
  expect(callers.map(({ isHeld }) => isHeld)).toEqual([true, false]);
});

it('forgets a caller that is gone, and releases all when it closes', () => {
  const held = new HeldCallers(now, () => 0.5);
  const callers = [new Told(), new Told(), new Told()];
  overspend(held, callers);
  vi.advanceTimersByTime(10);
  overspend(held, callers);
  held.forget(callers[0] as Told);
  held.close();
  expect(callers.map(({ isHeld }) => isHeld)).toEqual([true, false, false]);
  expect(vi.getTimerCount()).toBe(0);
});

interface Call {
  readonly bornMs: number;
  readonly caller: number;
}

const DEADLINE_MS = 100;
const ANSWER_MS = 1;
const REFUSAL_MS = 0.1;
/** Between the engine and the thread. */
const ANSWER_LATER_MS = 8;

function admitted(admission: EdgeAdmission, leftMs: number): AdmissionPlace | undefined {
  try {
    return admission.refusalOf(leftMs) === undefined ? admission.admit(1, leftMs) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * One thread that answers and refuses calls of eight callers, each of which keeps its calls in
 * order where it is held and ends them at their deadline.
 */
function simulate(factor: number, seconds: number) {
  let ms = 0;
  const nowMs = () => ms;
  const forecast = () => ({ waitUs: 0, turnUs: 0 });
  const admission = new EdgeAdmission({ forecast, inFlightMax: 1000, nowMs });
  let seed = 1;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const held = new HeldCallers(nowMs, random);
  const callers = Array.from({ length: 8 }, () => ({ ...new Told(), kept: [] as Call[] }));
  const told = callers.map((caller) => ({
    hold: () => {
      caller.isHeld = true;
    },
    release: () => {
      caller.isHeld = false;
    },
  }));
  const outcome = { good: 0, late: 0, refused: 0, expired: 0, byCaller: callers.map(() => 0) };
  const sent: Call[] = [];
  const running: { readonly dueMs: number; readonly end: () => void }[] = [];
  let born = 0;
  let busyMs = 0;
  const refuse = ({ caller }: Call) => {
    outcome.refused += 1;
    busyMs += REFUSAL_MS;
    held.refused(told[caller] as Caller, () => admission.hasRoom);
  };
  const answer = ({ bornMs, caller }: Call, place: AdmissionPlace) => {
    place.giveBack('answered');
    const isGood = ms <= bornMs + DEADLINE_MS;
    outcome[isGood ? 'good' : 'late'] += 1;
    if (isGood) outcome.byCaller[caller] = (outcome.byCaller[caller] ?? 0) + 1;
  };
  const judge = (call: Call) => {
    const leftMs = call.bornMs + DEADLINE_MS - ms;
    const place = admitted(admission, leftMs);
    if (place === undefined) refuse(call);
    else {
      busyMs += ANSWER_MS;
      running.push({ dueMs: ms + ANSWER_LATER_MS, end: () => answer(call, place) });
    }
  };
  while (ms < seconds * 1000) {
    ms += 1;
    vi.advanceTimersByTime(1);
    for (; born < (ms / ANSWER_MS) * factor; born += 1) {
      callers[born % 8]?.kept.push({ bornMs: ms, caller: born % 8 });
    }
    for (const at of callers.keys()) {
      // Nobody is always the first of a millisecond.
      const caller = callers[(ms + at) % callers.length] as (typeof callers)[number];
      const fresh = caller.kept.filter(({ bornMs }) => ms - bornMs < DEADLINE_MS);
      outcome.expired += caller.kept.length - fresh.length;
      caller.kept = caller.isHeld ? fresh : [];
      if (!caller.isHeld) sent.push(...fresh);
    }
    busyMs = Math.max(0, busyMs - 1);
    while (busyMs < 1 && sent.length > 0) judge(sent.shift() as Call);
    while (running[0] !== undefined && running[0].dueMs <= ms) running.shift()?.end();
  }
  held.close();
  return { ...outcome, capacity: (seconds * 1000) / ANSWER_MS };
}

it.each([
  [1.5, 0.9],
  [3, 0.88],
  [10, 0.78],
])('answers what it can at %d times the capacity, whoever asks', (factor, least) => {
  const { good, late, byCaller, capacity } = simulate(factor, 20);
  expect(good / capacity).toBeGreaterThan(least);
  expect(late / good).toBeLessThan(0.02);
  const mean = good / byCaller.length;
  for (const answered of byCaller) expect(Math.abs(answered / mean - 1)).toBeLessThan(0.4);
});
