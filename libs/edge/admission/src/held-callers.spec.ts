import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AdmissionPlace } from './answer-limit.js';
import { EdgeAdmission } from './edge-admission.js';
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

const DEADLINE_MS = 100;
const ANSWER_MS = 1;
const REFUSAL_MS = 0.1;
/** Between the engine and the thread. */
const ANSWER_LATER_MS = 8;

/** Caller of the simulation: a queue in order, of which nothing is sent while it is held. */
class SimulatedCaller extends Told {
  kept: number[] = [];
  good = 0;

  /** Ends calls whose time is over, and sends the others. */
  send(ms: number): readonly number[] {
    const fresh = this.kept.filter((bornMs) => ms - bornMs < DEADLINE_MS);
    this.kept = this.isHeld ? fresh : [];
    return this.isHeld ? [] : fresh;
  }
}

/** One thread that answers and refuses calls of eight callers. */
class SimulatedThread {
  ms = 0;
  late = 0;
  readonly callers = Array.from({ length: 8 }, () => new SimulatedCaller());
  private seed = 1;
  private born = 0;
  private busyMs = 0;
  private readonly sent: { readonly bornMs: number; readonly caller: SimulatedCaller }[] = [];
  private readonly running: { readonly dueMs: number; readonly end: () => void }[] = [];
  private readonly admission = new EdgeAdmission({ inFlightMax: 1000, nowMs: () => this.ms });
  private readonly held = new HeldCallers(
    () => this.ms,
    () => this.drawn(),
  );

  private drawn(): number {
    this.seed = (Math.imul(this.seed, 1664525) + 1013904223) >>> 0;
    return this.seed / 2 ** 32;
  }

  run(factor: number, seconds: number): void {
    while (this.ms < seconds * 1000) this.tick(factor);
    this.held.close();
  }

  private tick(factor: number): void {
    const { callers, running, sent } = this;
    this.ms += 1;
    vi.advanceTimersByTime(1);
    for (; this.born < (this.ms / ANSWER_MS) * factor; this.born += 1) {
      callers[this.born % callers.length]?.kept.push(this.ms);
    }
    for (const at of callers.keys()) {
      // Each is the first of a millisecond in turn.
      const caller = callers[(this.ms + at) % callers.length] as SimulatedCaller;
      sent.push(...caller.send(this.ms).map((bornMs) => ({ bornMs, caller })));
    }
    this.busyMs = Math.max(0, this.busyMs - 1);
    while (this.busyMs < 1 && sent.length > 0) {
      const { bornMs, caller } = sent.shift() as (typeof sent)[number];
      this.judge(bornMs, caller);
    }
    while (running[0] !== undefined && running[0].dueMs <= this.ms) running.shift()?.end();
  }

  private judge(bornMs: number, caller: SimulatedCaller): void {
    const place = admitted(this.admission, bornMs + DEADLINE_MS - this.ms);
    if (place === undefined) {
      this.busyMs += REFUSAL_MS;
      this.held.refused(caller, () => this.admission.hasRoom);
      return;
    }
    this.busyMs += ANSWER_MS;
    const end = () => {
      place.giveBack('answered');
      if (this.ms <= bornMs + DEADLINE_MS) caller.good += 1;
      else this.late += 1;
    };
    this.running.push({ dueMs: this.ms + ANSWER_LATER_MS, end });
  }
}

function admitted(admission: EdgeAdmission, leftMs: number): AdmissionPlace | undefined {
  try {
    return admission.refusalOf(leftMs) === undefined ? admission.admit(1, leftMs) : undefined;
  } catch {
    return undefined;
  }
}

it.each([
  [1.5, 0.9],
  [3, 0.88],
  [10, 0.78],
])('answers what it can at %d times the capacity, whoever asks', (factor, least) => {
  const seconds = 20;
  const thread = new SimulatedThread();
  thread.run(factor, seconds);
  const good = thread.callers.reduce((sum, caller) => sum + caller.good, 0);
  expect(good / ((seconds * 1000) / ANSWER_MS)).toBeGreaterThan(least);
  expect(thread.late / good).toBeLessThan(0.02);
  const mean = good / thread.callers.length;
  for (const caller of thread.callers) expect(Math.abs(caller.good / mean - 1)).toBeLessThan(0.4);
});
