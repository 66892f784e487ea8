import { isErrorCode, TesseraError } from '@tessera/errors';
import { PackedReader, REQUEST_KINDS, readCompletionHead, readFailure } from '@tessera/native';
import { turns } from '@tessera/turns';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import type { EngineHeld } from './engine.js';
import type { RequestKind } from './request-kinds.js';

/** Settled with what the completion goes on with behind its head. */
interface Waiting {
  readonly kind: RequestKind<never, unknown>;
  resolve(completion: PackedReader): void;
  reject(reason: unknown): void;
}

const TICKETS = 2 ** 32;

/** Held things of an engine without a request under way: none. */
export const NOTHING_HELD: EngineHeld = {
  tickets: 0,
  reservedTickets: 0,
  inFlight: 0,
  prefetches: 0,
  leases: 0,
};

/** Requests still waiting for their completion, by ticket. */
export class Tickets {
  readonly waiting = new Map<number, Waiting>();
  /** Tickets of requests that are still being made. */
  readonly reserved = new Set<number>();
  private next = 1;

  /** A ticket that nobody else has. */
  take(): number {
    while (this.waiting.has(this.next) || this.reserved.has(this.next)) this.step();
    const ticket = this.next;
    this.step();
    return ticket;
  }

  private step(): void {
    this.next = (this.next + 1) % TICKETS;
  }

  /** A pass may complete a hundred requests: each is settled in its turn of the event loop. */
  settle(words: Uint32Array, codes: readonly string[]): void {
    const completions = new PackedReader(words);
    for (const first of completions.records()) {
      const { ticket } = readCompletionHead(completions.open(first));
      const waiting = this.waiting.get(ticket);
      this.waiting.delete(ticket);
      if (waiting !== undefined) {
        turns.answer(() => settleOne(waiting, completions.open(first), codes));
      }
    }
  }
}

function settleOne(waiting: Waiting, completion: PackedReader, codes: readonly string[]): void {
  const { status, kind } = readCompletionHead(completion);
  const code = codes[status] ?? 'INTERNAL';
  if (code === 'OK' && REQUEST_KINDS[kind] === waiting.kind.name) {
    waiting.resolve(completion);
    return;
  }
  if (code === 'OK') {
    const message = `completion: expected one of ${waiting.kind.name}, got kind ${kind}`;
    waiting.reject(new TesseraError('INTERNAL', message));
    return;
  }
  const { message, retryAfterUs } = readFailure(completion);
  waiting.reject(
    new TesseraError(isErrorCode(code) ? code : 'INTERNAL', message, retryHint(retryAfterUs)),
  );
}

/** The engine's hint, rounded up; none where it gave none. */
export function retryHint(retryAfterUs: number): { readonly retryAfterMs?: number } {
  return retryAfterUs === 0
    ? {}
    : { retryAfterMs: Math.ceil(retryAfterUs / MICROSECONDS_PER_MILLISECOND) };
}
