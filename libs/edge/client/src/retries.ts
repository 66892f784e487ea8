import { setTimeout as sleep } from 'node:timers/promises';

const ATTEMPTS_MAX = 4;
const FIRST_WAIT_MS = 20;
/** Callers that were refused together come back apart: waits differ by up to this share. */
const JITTER = 0.2;
/** The budget of gRFC A6 (retryThrottling): repeats only while over half its tokens are left. */
const TOKENS_MAX = 10;
const TOKEN_RATIO = 0.1;
/** Share of the newest answer in the smoothed time of answers, that of RFC 6298 for round trips. */
const ANSWER_WEIGHT = 0.125;

/** Milliseconds from any moment, and a wait. */
export interface RetryClock {
  now(): number;
  sleep(ms: number): Promise<unknown>;
}

const MONOTONIC: RetryClock = { now: () => performance.now(), sleep: (ms) => sleep(Math.ceil(ms)) };

/** A fault of a call, of which the service says whether the same call may succeed later. */
export interface Fault {
  readonly code: string;
  readonly retryable: boolean;
  /** Milliseconds; left out: no hint. */
  readonly retryAfterMs?: number | undefined;
}

/** The budget of repeats that calls share: what fails for many is not asked again by all. */
export class RetryBudget {
  private tokens = TOKENS_MAX;

  /** Notes a failure that may be repeated. @returns true where the budget has a repeat for it */
  failed(): boolean {
    this.tokens = Math.max(0, this.tokens - 1);
    return this.tokens > TOKENS_MAX / 2;
  }

  answered(): void {
    this.tokens = Math.min(TOKENS_MAX, this.tokens + TOKEN_RATIO);
  }
}

/** Repeats of one client's calls within their deadlines. The calls share one budget. */
export class Retries {
  private readonly budget = new RetryBudget();
  /** Smoothed time of answers; undefined before the first. */
  private answerMs: number | undefined;

  /** @param random draws from [0, 1) */
  constructor(
    private readonly clock: RetryClock = MONOTONIC,
    private readonly random: () => number = Math.random,
  ) {}

  /**
   * Attempts, each with the milliseconds that are left, until one succeeds or waitAfter() allows no
   * other. Rejects with the last fault, as `errorOf` reads it.
   */
  async within<Answer>(
    deadlineMs: number,
    act: (leftMs: number) => Promise<Answer>,
    errorOf: (thrown: unknown, leftMs: number) => Fault | Promise<Fault>,
  ): Promise<Answer> {
    const until = this.clock.now() + deadlineMs;
    const left = () => Math.max(0, until - this.clock.now());
    for (let attempt = 0; ; attempt += 1) {
      const began = this.clock.now();
      try {
        const answer = await act(left());
        this.answered(this.clock.now() - began);
        return answer;
      } catch (thrown) {
        const error = await errorOf(thrown, left());
        const waitMs = this.waitAfter(error, attempt, left());
        if (waitMs === undefined) throw error;
        await this.clock.sleep(waitMs);
      }
    }
  }

  /**
   * Milliseconds before the next attempt, after a failure that takes a token where it is retryable.
   * Undefined: a repeat would not help, exceeds the budget, or leaves too little time for an answer
   * (as much as answers took lately; before the first one, as much as the wait).
   */
  waitAfter(
    { retryable, code, retryAfterMs = 0 }: Fault,
    attempt: number,
    leftMs: number,
  ): number | undefined {
    if (!retryable || code === 'DEADLINE_EXCEEDED') return undefined;
    if (!this.budget.failed() || attempt + 1 >= ATTEMPTS_MAX) return undefined;
    const drawn = JITTER * this.random();
    const waitMs =
      retryAfterMs > 0
        ? retryAfterMs * (1 + drawn)
        : FIRST_WAIT_MS * 2 ** attempt * (1 - JITTER + 2 * drawn);
    return waitMs + (this.answerMs ?? waitMs) <= leftMs ? waitMs : undefined;
  }

  /** Counts a success. */
  answered(tookMs: number): void {
    this.budget.answered();
    this.answerMs ??= tookMs;
    this.answerMs += ANSWER_WEIGHT * (tookMs - this.answerMs);
  }
}
