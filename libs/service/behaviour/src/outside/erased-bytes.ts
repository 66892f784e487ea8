import type { OrderedStore, StoreEntry } from '@tessera/engine';
import { SpacedWork } from '@tessera/turns';
import {
  eventKey,
  NAMES_TAKEN_KEY,
  recordKey,
  recordRange,
  SCRUB_KEY,
  userOfRecordKey,
  windowRange,
} from './embedded-keys.js';
import { readRecord, recordEntries } from './user-record.js';

export interface ErasedBytesParts {
  readonly store: Pick<OrderedStore, 'scrub' | 'write'>;
  readonly windowCount: number;
  /** Runs a write after all writes before it. */
  readonly inTurn: (write: () => Promise<void>) => Promise<void>;
}

type Ranges = { readonly from: Buffer; readonly to: Buffer }[];

/** Byte greater than all event IDs: no byte of UTF-8 is 0xff. */
const LAST = Buffer.of(0xff);

/**
 * The store hides at once what was erased, and has it in its files until those are rewritten: soon
 * after an erasure, many users in one go. A key of the store says that there is something to
 * rewrite; a process that finds it at its start rewrites all, since no name may be kept for this.
 */
export class ErasedBytes {
  private readonly work: SpacedWork;
  /** Undefined: all of the store. */
  private waiting: Ranges | undefined = [];
  private fault = '';

  constructor(private readonly parts: ErasedBytesParts) {
    this.work = new SpacedWork({
      work: () => this.scrub(),
      onFault: (thrown) => {
        this.fault = `what was erased is still in files: ${(thrown as Error).message}`;
      },
    });
  }

  /** '' where nothing is in its way. */
  get reason(): string {
    return this.fault;
  }

  /** To be written in one with the erasure. */
  static readonly entry: StoreEntry = { key: SCRUB_KEY, value: Buffer.of() };

  /** The user's keys are erased. */
  noteUser(userId: string): void {
    const record = recordKey(userId);
    const events = eventKey(userId, '');
    const ofWindows = (['c', 'w'] as const).map((letter) => ({
      from: windowRange(userId, 0, 0, Number.POSITIVE_INFINITY, letter).from,
      to: windowRange(userId, this.parts.windowCount, 0, Number.POSITIVE_INFINITY, letter).to,
    }));
    this.waiting?.push(
      { from: record, to: record },
      { from: events, to: Buffer.concat([events, LAST]) },
      ...ofWindows,
    );
    this.work.due();
  }

  /** A process before this one has not come to it. */
  noteAll(): void {
    this.waiting = undefined;
    this.work.due();
  }

  /** No byte of what was erased before is left in a file. */
  done(): Promise<void> {
    return this.work.done();
  }

  /** Finishes with who was erased lately; what takes long or cannot be is the next process's. */
  async close(): Promise<void> {
    await this.work.close();
    if (this.waiting !== undefined) await this.work.done().catch(() => undefined);
  }

  private async scrub(): Promise<void> {
    const { store, inTurn } = this.parts;
    const ranges = this.waiting;
    this.waiting = [];
    try {
      await store.scrub(ranges ?? []);
    } catch (thrown) {
      this.waiting = ranges && [...ranges, ...(this.waiting ?? [])];
      throw thrown;
    }
    this.fault = '';
    await inTurn(async () => {
      // One that was erased meanwhile needs the mark.
      if (this.waiting?.length !== 0) return;
      await store.write({ erased: [SCRUB_KEY], put: [], durability: 'machine' });
    });
  }
}

/**
 * A release before kept the time of an erasure under the user's ID: it goes under a digest. Once;
 * what is erased by this is left to ErasedBytes.
 */
export async function takeNamesOut(
  store: Pick<OrderedStore, 'scan' | 'write'>,
  pageMax: number,
): Promise<void> {
  const all = recordRange('');
  for (let from = all.from; ; ) {
    const page = await store.scan({ from, to: all.to, limit: pageMax, direction: 'ascending' });
    const gone = page.filter(({ value }) => !readRecord(value).known);
    const put = gone.flatMap(({ key, value }) =>
      recordEntries(userOfRecordKey(key), readRecord(value)),
    );
    const last = page.at(-1);
    const isEnd = page.length < pageMax || last === undefined;
    const marks = isEnd ? [{ key: NAMES_TAKEN_KEY, value: Buffer.of() }] : [];
    const scrubs = gone.length === 0 ? [] : [ErasedBytes.entry];
    const erased = gone.map(({ key }) => key);
    await store.write({ erased, put: [...put, ...marks, ...scrubs], durability: 'machine' });
    if (isEnd) return;
    from = Buffer.concat([last.key, Buffer.of(0)]);
  }
}
