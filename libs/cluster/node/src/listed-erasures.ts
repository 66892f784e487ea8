import type { PendingErasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type { Readiness } from '@tessera/lifecycle';
import type { Log } from '@tessera/telemetry';
import { type Clock, Limit, PROCESS_CLOCK } from '@tessera/turns';
import { ERASE, ERASURE_MS, type Erasure } from './domain/erasure.js';
import {
  type Erased,
  type EventualParts,
  NodeErasures,
  type PartName,
  withoutStore,
} from './erasures.js';
import { Work } from './work.js';

export interface ListedErasuresParts {
  readonly pending: PendingErasures;
  readonly stores: EventualParts;
  readonly nodeLog: Pick<Log, 'warn' | 'info'>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Left out: that of the process. */
  readonly clock?: Clock;
}

/**
 * Erasures of a process that follows no log: its durable list is their order, and gives the
 * offsets. They are done as those of a log are.
 */
export class ListedErasures {
  private readonly work: Work;
  private readonly erasures: NodeErasures;
  private lastOffset: number;
  private lastMs = 0;
  private turn: Promise<unknown> = Promise.resolve();

  /** Goes on with what an earlier process left. */
  constructor(private readonly parts: ListedErasuresParts) {
    const { pending, stores, nodeLog, clock = PROCESS_CLOCK } = parts;
    this.work = new Work(clock, nodeLog);
    this.erasures = new NodeErasures({
      pending,
      stores,
      work: this.work,
      isBehavioursFirst: true,
    });
    this.lastOffset = Math.max(0, ...pending.list().map(({ offset }) => offset));
    this.erasures.start();
  }

  /**
   * Resolves when nothing of the user is left; behaviours until now, if these are asked for.
   * Rejects with IO_FAILED where it cannot be remembered, and then nothing is erased; else as
   * NodeErasures.outcome(). May be repeated.
   */
  async erase(erasure: Erasure, given?: AbortSignal): Promise<Erased> {
    const limit = new Limit(this.work.clock, ERASURE_MS, given);
    try {
      const noted = this.turn.then(() => this.note(erasure));
      this.turn = noted.catch(() => undefined);
      return await this.erasures.outcome(await noted, limit.signal);
    } finally {
      limit.end();
    }
  }

  /** True: nothing that this process keeps of the user may be read or added to. */
  isPending(userId: string): boolean {
    return this.erasures.isPending(userId);
  }

  showIn(readiness: Readiness): void {
    this.erasures.showIn(readiness);
  }

  async close(): Promise<void> {
    await this.erasures.close();
    await this.work.close();
  }

  /** Repeats take the place of an open erasure: a list is no longer than its users. */
  private async note(erasure: Erasure): Promise<number> {
    const offset = this.erasures.openOf(erasure.userId) ?? this.lastOffset + 1;
    this.lastOffset = Math.max(this.lastOffset, offset);
    this.lastMs = Math.max(this.lastMs + 1, this.parts.nowMs());
    const place = { offset, atMs: this.lastMs };
    await this.erasures.part.apply({ kind: ERASE, body: erasure }, place, '');
    return offset;
  }
}

/**
 * An act of a person, while the process is stopped: the erasure of the offset counts without this
 * store. Rejects with REQUEST_INVALID where the list has no such erasure.
 */
export async function giveUpListed(
  pending: PendingErasures,
  offset: number,
  store: PartName,
): Promise<void> {
  const erasure = pending.list().find((one) => one.offset === offset);
  if (erasure === undefined) {
    const known = pending.list().map((one) => one.offset);
    const message = `offset: expected one of [${known.join(', ')}], got ${offset}`;
    throw new TesseraError('REQUEST_INVALID', message, { field: 'offset' });
  }
  const left = withoutStore(erasure, store);
  if (left === undefined) await pending.remove(erasure);
  else await pending.put(left);
}
