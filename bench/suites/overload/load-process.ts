/** Offers calls to a service over gRPC, in a process of its own; its parent sends the plans. */

import { setPriority } from 'node:os';
import { setTimeout as after } from 'node:timers/promises';
import { protoSchema } from '@tessera/contracts';
import protobuf from 'protobufjs';
import { Random } from '../../models/random.js';
import { type AskedCall, AskedCalls } from './asked-calls.js';
import { countOf, noOutcome } from './call-counts.js';
import { ConnectionPool } from './connection-pool.js';
import { CANCELLED_BY_CALLER, type CallEnd } from './grpc-connection.js';
import type { AnswerTimes, ClassOutcome, LoadOutcome, LoadPlan } from './load-plan.js';
import { WaitingCalls } from './waiting-calls.js';

const TICK_MS = 1;
const REST_MS_MAX = 8;
const MS_PER_SECOND = 1000;
const US_PER_SECOND = 1e6;
const US_PER_MS = 1000;
/** Answers are awaited for so long after the last call's deadline. */
const TAIL_MS = 200;

/** Callers have machines of their own: a busy core may not make their clocks late. */
const PRIORITY = -10;

interface Call {
  readonly asked: AskedCall;
  readonly outcome: ClassOutcome;
  readonly begunMs: number;
  readonly timeoutMs: number;
  /** The connection of its caller. */
  readonly place: number;
  /** By performance.now(); 0: it waits in its caller. */
  sentMs: number;
  cancel: (() => void) | undefined;
  isOver: boolean;
}

type KeptAnswer = Pick<AnswerTimes, 'ms'> & { readonly answer: Buffer };

function timesOf(kept: readonly KeptAnswer[]): AnswerTimes[] {
  const type = protobuf.Root.fromJSON(protoSchema).lookupType('tessera.recall.v1.RecallResponse');
  return kept.map(({ ms, answer }) => {
    const { timings } = type.toObject(type.decode(answer), { defaults: true }) as {
      timings: Readonly<Record<string, number>>;
    };
    const us = (...names: string[]) =>
      names.reduce((sum, name) => sum + (timings[`${name}Us`] ?? 0), 0);
    const arithmeticUs = us('prefill', 'decode', 'head', 'select');
    return {
      ms,
      engineMs: (us('total') - us('features', 'prompt')) / US_PER_MS,
      stagesMs: (arithmeticUs + us('queue', 'plan', 'fork', 'export')) / US_PER_MS,
      arithmeticMs: arithmeticUs / US_PER_MS,
      recallMs: us('total') / US_PER_MS,
    };
  });
}

class Load {
  private readonly random: Random;
  private readonly asked: AskedCalls;
  private readonly outcomes: ClassOutcome[];
  private readonly writes = noOutcome();
  /** Calls whose deadline ends in a tick, by the tick's number. */
  private readonly ending = new Map<number, Call[]>();
  /** By connection: each is a caller's channel, whose calls wait for it alone. */
  private readonly waiting: readonly WaitingCalls<Call>[];
  private readonly goodMs: number[] = [];
  private readonly refusedMs: number[] = [];
  private readonly arrivalLateMs: number[] = [];
  private readonly goodBySecond: number[] = [];
  private readonly kept: KeptAnswer[] = [];
  private pool: ConnectionPool | undefined;
  private begun = 0;
  private underWay = 0;
  private ticked = 0;
  private startedMs = 0;
  private isEnding = false;

  constructor(private readonly plan: LoadPlan) {
    this.random = new Random(plan.seed);
    this.asked = new AskedCalls(plan, new Random(plan.seed + 1));
    this.outcomes = plan.priorities.map(noOutcome);
    this.waiting = Array.from(
      { length: plan.connections },
      () => new WaitingCalls<Call>((call) => this.send(call)),
    );
  }

  async run(): Promise<LoadOutcome> {
    const { seconds, closed } = this.plan;
    this.pool = await ConnectionPool.start(this.plan, (place) => this.waiting[place]?.sendOn());
    const cpu = process.cpuUsage();
    this.startedMs = performance.now();
    for (let caller = 0; caller < (closed?.callers ?? 0); caller++) this.begin(caller);
    const endMs = this.startedMs + seconds * MS_PER_SECOND;
    let dueMs = this.nextDue(this.startedMs);
    while (performance.now() < endMs) {
      for (; dueMs <= performance.now(); dueMs = this.nextDue(dueMs)) {
        this.arrivalLateMs.push(performance.now() - dueMs);
        this.begin(this.begun);
      }
      this.tick();
      await after(this.restMs(dueMs));
    }
    this.isEnding = true;
    const lastMs = endMs + this.plan.deadlineMs[1] + TAIL_MS;
    while (performance.now() < lastMs && this.underWay > 0) {
      this.tick();
      await after(TICK_MS);
    }
    this.pool.close();
    return this.outcome(process.cpuUsage(cpu));
  }

  private outcome({ user, system }: NodeJS.CpuUsage): LoadOutcome {
    const { seconds, priorities } = this.plan;
    const sorted = (values: number[]) => values.sort((a, b) => a - b);
    return {
      seconds,
      byPriority: Object.fromEntries(priorities.map((one, i) => [one, this.outcomes[i] as never])),
      writes: this.writes,
      goodMs: sorted(this.goodMs),
      refusedMs: sorted(this.refusedMs),
      goodBySecond: this.goodBySecond,
      answers: timesOf(this.kept),
      arrivalLateMs: sorted(this.arrivalLateMs),
      lostConnections: this.pool?.lostConnections ?? 0,
      cpuSeconds: (user + system) / US_PER_SECOND,
    };
  }

  /** When the call after that of `beforeMs` is due; never where the load is no open one. */
  private nextDue(beforeMs: number): number {
    const { open } = this.plan;
    if (open === undefined) return Number.POSITIVE_INFINITY;
    const gaps = open.arrivals === 'poisson' ? -Math.log(1 - this.random.uniform()) : 1;
    return beforeMs + (gaps * MS_PER_SECOND) / open.rate;
  }

  private begin(caller: number): void {
    const { priorities, deadlineMs } = this.plan;
    const lane = this.begun++ % priorities.length;
    const [shortest, longest] = deadlineMs;
    const asked = this.asked.next(lane);
    const call: Call = {
      asked,
      outcome: asked.isWrite ? this.writes : (this.outcomes[lane] as ClassOutcome),
      begunMs: performance.now(),
      timeoutMs: shortest + this.random.uniform() * (longest - shortest),
      place: caller % this.waiting.length,
      sentMs: 0,
      cancel: undefined,
      isOver: false,
    };
    call.outcome.offered += 1;
    this.underWay += 1;
    const tick = this.tickOf(call.begunMs + call.timeoutMs);
    const bucket = this.ending.get(tick) ?? [];
    bucket.push(call);
    this.ending.set(tick, bucket);
    this.waiting[call.place]?.add(call);
  }

  /** Milliseconds until a call is due or the time of one is over: ticks would cost more. */
  private restMs(dueMs: number): number {
    let tick = this.ticked;
    const last = tick + REST_MS_MAX / TICK_MS;
    while (tick < last && !this.ending.get(tick)?.some(({ isOver }) => !isOver)) tick += 1;
    const nextMs = Math.min(dueMs, this.startedMs + tick * TICK_MS);
    return Math.max(TICK_MS, Math.floor(nextMs - performance.now()));
  }

  private tickOf(ms: number): number {
    return Math.ceil((ms - this.startedMs) / TICK_MS);
  }

  private send(call: Call): boolean {
    const leftMs = call.begunMs + call.timeoutMs - performance.now();
    // Its tick is about to end it: a client library would not send it either.
    if (leftMs <= 0) return true;
    const onEnd = (end: CallEnd) => this.over(call, end);
    call.cancel = this.pool?.begin(call.place, call.asked, leftMs, onEnd);
    call.sentMs = performance.now();
    return call.cancel !== undefined;
  }

  /** Ends the calls whose time is over and sends those that find room. */
  private tick(): void {
    const now = Math.floor((performance.now() - this.startedMs) / TICK_MS);
    for (; this.ticked <= now; this.ticked++) {
      for (const call of this.ending.get(this.ticked) ?? []) this.timeOut(call);
      this.ending.delete(this.ticked);
    }
    for (const waiting of this.waiting) waiting.sendOn();
  }

  private timeOut(call: Call): void {
    if (call.isOver) return;
    if (call.cancel === undefined) this.over(call, { status: CANCELLED_BY_CALLER });
    else call.cancel();
  }

  private over(call: Call, end: CallEnd): void {
    if (call.isOver) return;
    call.isOver = true;
    this.underWay -= 1;
    const { outcome, begunMs, timeoutMs, cancel, sentMs, place } = call;
    const now = performance.now();
    const ms = now - begunMs;
    const leftMs = cancel === undefined ? 0 : timeoutMs - (sentMs - begunMs);
    const count = countOf(end, { ms, timeoutMs, leftMs });
    outcome[count] += 1;
    if (count === 'refused') this.refusedMs.push(now - sentMs);
    if (count === 'good') {
      this.goodMs.push(ms);
      const answer = 'answer' in end ? end.answer : undefined;
      if (answer !== undefined) this.kept.push({ ms, answer });
      const second = Math.floor((now - this.startedMs) / MS_PER_SECOND);
      this.goodBySecond[second] = (this.goodBySecond[second] ?? 0) + 1;
    }
    this.waiting[place]?.sendOn();
    if (this.plan.closed !== undefined && !this.isEnding) this.begin(place);
  }
}

try {
  setPriority(PRIORITY);
} catch {
  // Not everybody may: then the generator's lateness shows it.
}

process.on('message', async (plan: LoadPlan) => process.send?.(await new Load(plan).run()));
