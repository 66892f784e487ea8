/** An engine that is asked for more than it can do, and its memory. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TesseraError } from '@tessera/errors';
import { createRecallRuntime, type RecallRuntime } from '@tessera/recall';
import { MODEL_FLAGS, runtimeOptions } from '../../tools/terminal/model-flags.js';
import { pace } from './pace.js';
import type { Course, Kind, Soak } from './soak.js';

const USERS = 64;
const QUEUE_CAPACITY = 32;
/** Callers beyond what the queue holds: the rest is refused. */
const OVERLOAD = 2;
const GROWTH_MAX = 1.1;
/** Growth that the heap of a process that has just started may show. */
const GROWTH_SLACK_BYTES = 32 * 2 ** 20;
const SAMPLES_A_ROUND = 6;
const ALLOWED = new Set(['OK', 'ENGINE_OVERLOADED', 'DEADLINE_EXCEEDED', 'CANCELLED']);

export const overload: Kind = {
  usage: `
  A second of recalls and scores of known users, more than the engine can do, some of them
  cancelled, some with deadlines that cannot be met. Faults: the memory of the last third is
  above that of the second by more than a tenth and 32 MiB, or a request ends as none may.
  --model DIR, --catalogue FILE, --titles FILE, --users-file FILE, --dtype f32|bf16, --threads N`,
  rounds: 600,
  flags: MODEL_FLAGS,
  start: async (soak) => {
    const options = runtimeOptions(soak.flags, () => undefined);
    const engine = { ...options.engine, queueCapacity: QUEUE_CAPACITY };
    const runtime = await createRecallRuntime({ ...options, engine });
    const callers = OVERLOAD * (QUEUE_CAPACITY + engine.batchRequestsMax);
    return new Overload(soak, runtime, await runtime.facts.sampleUserIds(USERS), callers);
  },
};

const source = (userId: string) => ({
  requestId: '',
  userId,
  profile: {},
  scene: {},
  skipUnknownItems: true,
});

// Garbage that V8 has not collected yet is no growth: 51 to 186 MB of it after 90,000 requests.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

class Overload implements Course {
  private isOver = false;
  /** Resident bytes, evenly over the time. */
  private readonly samples: number[] = [];
  private readonly calls: readonly Promise<void>[];

  constructor(
    private readonly soak: Soak,
    private readonly runtime: RecallRuntime,
    private readonly users: readonly string[],
    callers: number,
  ) {
    this.calls = Array.from({ length: callers }, (_, caller) => this.call(caller));
  }

  async round(): Promise<void> {
    for (let sample = 0; sample < SAMPLES_A_ROUND; sample += 1) {
      await pace(1000 / SAMPLES_A_ROUND);
      collectGarbage();
      this.samples.push(process.memoryUsage.rss());
    }
  }

  async finish(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.calls);
    const { soak, samples } = this;
    const third = Math.floor(samples.length / 3);
    const before = median(samples.slice(third, 2 * third));
    const now = median(samples.slice(2 * third));
    const strange = [...soak.counts.keys()].filter((code) => !ALLOWED.has(code));
    for (const code of strange) soak.fault(`requests ended with ${code}`);
    const { prefixReusedTokens, prefillTokens, predictedUs, actualUs } =
      this.runtime.facts.engineStats();
    const tokens = { prefillTokens, prefixReusedTokens, predictedUs, actualUs };
    const memory = { secondThirdBytes: before, lastThirdBytes: now };
    for (const [what, by] of Object.entries(Object.assign(tokens, memory))) soak.count(what, by);
    if (now > before * GROWTH_MAX + GROWTH_SLACK_BYTES) {
      soak.fault(`memory grew from ${before} to ${now} bytes`);
    }
  }

  async close(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.calls);
    await this.runtime.close();
  }

  private async call(caller: number): Promise<void> {
    for (let n = 0; !this.isOver; n++) {
      let code = 'OK';
      let retryAfterMs = 0;
      try {
        await this.ask(caller, n);
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        code = error.code;
        retryAfterMs = error.retryAfterMs ?? 0;
      }
      this.soak.count(code);
      // A refused caller asks again after the hinted time, or at once: both are load.
      if (retryAfterMs > 0) await pace(Math.min(retryAfterMs, 20));
    }
  }

  /** Sends the caller's n-th request: every fifth is cancelled, every seventh has no time. */
  private async ask(caller: number, n: number): Promise<void> {
    const { serving } = this.runtime;
    const userId = this.users[(caller * 31 + n) % this.users.length] ?? '';
    const budgetUs = n % 7 === 6 ? 50 : 5e6;
    const controller = new AbortController();
    const context = { signal: controller.signal, budgetUs };
    if (n % 5 === 4) setImmediate(() => controller.abort());
    if (n % 3 === 2) {
      const items = [{ itemId: '1' }, { itemId: '2' }];
      await serving.score({ ...source(userId), items }, context);
    } else {
      const widths = [8 << (n % 4)];
      await serving.recall({ ...source(userId), resultCount: 0, widths, itemsPerSid: 0 }, context);
    }
  }
}
