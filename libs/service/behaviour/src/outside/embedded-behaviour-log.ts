import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { positionOf } from '@tessera/contracts';
import {
  OrderedStore,
  type StoreCondition,
  type StoreEntry,
  type StoreReading,
} from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import type { BehaviourEvent, StoredBehaviour } from '../domain/behaviour-event.js';
import { type AppendOutcome, BehaviourLog } from '../domain/behaviour-log.js';
import type { UserBehaviours } from '../domain/behaviour-store.js';
import { FUTURE_MS_MAX } from '../domain/plausible-time.js';
import type { Retention } from '../domain/retention.js';
import {
  behaviourKey,
  eventKey,
  FORMAT,
  FORMAT_KEY,
  MARK_KEY,
  NAMES_TAKEN_KEY,
  placeValue,
  readBehaviourKey,
  recordKey,
  recordRange,
  SCRUB_KEY,
  userOfRecordKey,
  windowRange,
} from './embedded-keys.js';
import { EmbeddedWindows, type WindowChanges } from './embedded-windows.js';
import { ErasedBytes, takeNamesOut } from './erased-bytes.js';
import {
  byTimeAndArrival,
  firstArrival,
  payloadOf,
  type StoredEntry,
  storedBehaviours,
} from './event-payload.js';
import { GatheredAppends } from './gathered-appends.js';
import {
  keysOfRecord,
  readRecord,
  recordEntries,
  recordOf,
  type UserRecord,
} from './user-record.js';

/** Behaviours that are too old are hidden at once and taken away this often. */
const PURGE_INTERVAL_MS = 3_600_000;
const SCAN_LIMIT = 10_000;

export interface EmbeddedBehaviourOptions {
  readonly path: string;
  /** Free bytes of its file system below which it takes no writes; left out: 0. */
  readonly reserveBytes?: number;
  readonly retention: Retention;
  /** Milliseconds since 1970; of a clock that is not to be trusted the earliest that it may be. */
  readonly nowMs: () => number;
  /** The latest; left out: `nowMs`. */
  readonly latestMs?: (() => number) | undefined;
}

/**
 * Behaviours in a folder of this process. Writes come one after another; reads wait for none. An
 * append writes what is new first and then takes away what has left its window: readers never look
 * beyond the window, so that the moment in between (or a crash in it) cannot be seen.
 */
export class EmbeddedBehaviourLog extends BehaviourLog {
  readonly userCount = null;
  private lastWrite: Promise<unknown> = Promise.resolve();
  private readonly windows: EmbeddedWindows;
  private readonly erasedBytes: ErasedBytes;
  private readonly appends: GatheredAppends;

  private constructor(
    private readonly store: OrderedStore,
    private readonly options: EmbeddedBehaviourOptions,
    private lastMark: string,
  ) {
    super();
    this.windows = new EmbeddedWindows(store, options.retention);
    const windowCount = options.retention.windows.length;
    const inTurn = (write: () => Promise<void>) => this.inTurn(write);
    this.erasedBytes = new ErasedBytes({ store, windowCount, inTurn });
    this.appends = new GatheredAppends(inTurn, (events) => this.appendNow(events));
  }

  /** Rejects with STORE_INVALID, STORE_NEWER, STORE_CORRUPT or STORE_FULL. */
  static async open(options: EmbeddedBehaviourOptions): Promise<EmbeddedBehaviourLog> {
    // The store makes its own folder alone. It names the reason where this one cannot be made.
    await mkdir(dirname(options.path), { recursive: true }).catch(() => undefined);
    const { path, reserveBytes = 0 } = options;
    const store = await OrderedStore.open({ path, reserveBytes });
    const [format, mark, taken] = await store.get([FORMAT_KEY, MARK_KEY, NAMES_TAKEN_KEY]);
    if (format === undefined || Number(format) <= FORMAT) {
      const log = new EmbeddedBehaviourLog(store, options, mark?.toString() ?? '');
      await log.begin(taken === undefined, Number(format ?? 0) < FORMAT);
      return log;
    }
    store.close();
    const got = `got format ${format}, which a newer release wrote`;
    throw new TesseraError('STORE_NEWER', `${path}: expected format ${FORMAT} at most, ${got}`);
  }

  override get retention(): Retention {
    return this.options.retention;
  }

  /** Cheap. */
  condition(): StoreCondition {
    const found = this.store.condition();
    const { reason } = this.erasedBytes;
    return found.state !== 'ok' || reason === '' ? found : { state: 'degraded', reason };
  }

  /** No byte of who was erased before is left in a file; by itself soon after each erasure. */
  erasedBytesGone(): Promise<void> {
    return this.erasedBytes.done();
  }

  /** Goes on writing where that had ended. Rejects with STORE_FULL or STORE_UNAVAILABLE. */
  recover(): Promise<void> {
    return this.store.recover();
  }

  append(events: readonly BehaviourEvent[]): Promise<readonly AppendOutcome[]> {
    return this.appends.add(events);
  }

  async history(userId: string, limit: number): Promise<readonly StoredBehaviour[] | null> {
    return (await this.user(userId, limit))?.behaviours ?? null;
  }

  /** Record and windows in one read. */
  override async user(
    userId: string,
    limit: number,
  ): Promise<UserBehaviours<StoredBehaviour> | null> {
    const { retention, nowMs } = this.options;
    const oldest = retention.oldestMs(nowMs());
    const { windows } = retention;
    const asked = this.store.read({
      keys: [recordKey(userId)],
      ranges: windows.map(({ behavioursMax }, window) => ({
        ...windowRange(userId, window, oldest[window] as number, Number.POSITIVE_INFINITY),
        ...endOf(limit, behavioursMax),
      })),
    });
    const found = asked instanceof Promise ? await asked : asked;
    const [value] = found.values();
    const record = value && readRecord(value);
    if (record?.known !== true) return null;
    const own = windows.map(({ behavioursMax }, window) =>
      newestOf(found, window, limit, behavioursMax),
    );
    const entries = own.length === 1 ? (own[0] ?? []) : own.flat().sort(byTimeAndArrival);
    const newest = limit > 0 ? entries.slice(-limit) : [];
    return { behaviours: storedBehaviours(newest), profile: record.profile };
  }

  async profile(userId: string): Promise<Readonly<Record<string, string>> | null> {
    const [record] = await this.records([userId]);
    return record?.known === true ? record.profile : null;
  }

  putProfile(userId: string, profile: Readonly<Record<string, string>>): Promise<void> {
    return this.inTurn(async () => {
      const [record] = await this.records([userId]);
      await this.put(
        [],
        recordEntries(userId, { ...(record as UserRecord), known: true, profile }),
      );
    });
  }

  /** Mark of the newest entry of a cluster log that is applied here; '': none. */
  get mark(): string {
    return this.lastMark;
  }

  noteMark(mark: string): Promise<void> {
    return this.inTurn(async () => {
      await this.put([], [{ key: MARK_KEY, value: Buffer.from(mark) }]);
      this.lastMark = mark;
    });
  }

  erase(userId: string, untilMs: number, mark = ''): Promise<boolean> {
    return this.inTurn(async () => {
      if (isApplied(mark, this.lastMark)) return false;
      const [record] = (await this.records([userId])) as [UserRecord];
      const { byWindow, keys } = await this.windows.ofUser(userId);
      const oldest = this.options.retention.oldestMs(this.options.nowMs());
      // Events beyond their window count as gone, trimmed or not.
      const times = byWindow.flatMap((found, window) =>
        found
          .map(({ key }) => readBehaviourKey(key).timeMs)
          .filter((timeMs) => timeMs >= (oldest[window] as number)),
      );
      const erasedUntilMs = this.bounded(
        times.reduce(
          (latest, time) => Math.max(latest, time),
          Math.max(untilMs, record.erasedUntilMs),
        ),
      );
      const marked = mark === '' ? [] : [{ key: MARK_KEY, value: Buffer.from(mark) }];
      const gone = recordEntries(userId, { ...this.noRecord(), erasedUntilMs });
      await this.put([recordKey(userId), ...keys], [...gone, ...marked, ErasedBytes.entry]);
      if (mark !== '') this.lastMark = mark;
      this.erasedBytes.noteUser(userId);
      return record.known;
    });
  }

  async userIds(limit: number, prefix = ''): Promise<readonly string[]> {
    const entries = await this.windows.scanAll(recordRange(prefix));
    const known = entries.filter(({ value }) => readRecord(value).known);
    return known.slice(0, limit).map(({ key }) => userOfRecordKey(key));
  }

  async close(): Promise<void> {
    await this.erasedBytes.close();
    await this.lastWrite;
    this.store.close();
  }

  /** A disk that takes no writes is left for the next start. */
  private async begin(hasNames: boolean, isOlder: boolean): Promise<void> {
    const format = { key: FORMAT_KEY, value: Buffer.from(String(FORMAT)) };
    if (isOlder && this.store.condition().state === 'ok') await this.put([], [format]);
    if (hasNames && this.store.condition().state === 'ok') {
      await takeNamesOut(this.store, SCAN_LIMIT).catch((thrown: unknown) => {
        if (this.store.condition().state === 'ok') throw thrown;
      });
    }
    const [scrub] = await this.store.get([SCRUB_KEY]);
    if (scrub !== undefined) this.erasedBytes.noteAll();
  }

  private async appendNow(events: readonly BehaviourEvent[]): Promise<AppendOutcome[]> {
    const users = [...new Set(events.map((event) => event.userId))];
    const nowMs = this.options.nowMs();
    const redated = await this.windows.redated(users, this.latestMs(), nowMs);
    if (redated.put.length > 0) await this.put(redated.erased, redated.put);
    const found = await this.records(users);
    const records = new Map(users.map((userId, i) => [userId, this.corrected(found[i])]));
    const keys = events.map(({ userId, eventId }) => eventKey(userId, eventId));
    const seen = await this.store.get(keys);
    const oldest = this.options.retention.oldestMs(nowMs);
    const inBatch = new Set<string>();
    const put: StoreEntry[] = [];
    const outcomes = events.map((event, i): AppendOutcome => {
      const window = this.options.retention.windowOf(event.action);
      const record = records.get(event.userId) as UserRecord;
      const { timeMs } = event;
      if (timeMs <= record.erasedUntilMs || timeMs < (oldest[window] as number)) return 'outside';
      const key = keys[i] as Buffer;
      const name = key.toString('latin1');
      if (seen[i] !== undefined || inBatch.has(name)) return 'duplicate';
      inBatch.add(name);
      const place = { window, timeMs };
      put.push({ key, value: placeValue(place) });
      const arrival = Math.max(record.arrival + 1, firstArrival(nowMs));
      const ownKey = behaviourKey(event.userId, place, arrival, event.eventId);
      put.push({ key: ownKey, value: Buffer.from(payloadOf(event)) });
      const counts = record.counts.map((count, w) => (w === window ? count + 1 : count));
      records.set(event.userId, { ...record, known: true, counts, arrival });
      return 'added';
    });
    const changed = users.filter((userId, i) => records.get(userId) !== found[i]);
    const entries = changed.flatMap((userId) =>
      recordEntries(userId, records.get(userId) as UserRecord),
    );
    await this.put([], [...put, ...entries]);
    const dropped = await this.trim(changed, records, oldest);
    return outcomes.map((outcome, i) =>
      outcome === 'added' && dropped.has((keys[i] as Buffer).toString('latin1'))
        ? 'outside'
        : outcome,
    );
  }

  /** Takes away what has left its window; returns the event keys (as latin1) of what it took. */
  private async trim(
    users: readonly string[],
    records: ReadonlyMap<string, UserRecord>,
    oldest: readonly number[],
  ): Promise<ReadonlySet<string>> {
    const changes: WindowChanges = { erased: [], put: [] };
    const dropped: Buffer[] = [];
    const nowMs = this.options.nowMs();
    for (const userId of users) {
      const record = records.get(userId) as UserRecord;
      const isPurged = nowMs - record.purgedMs >= PURGE_INTERVAL_MS;
      const until = isPurged ? oldest : oldest.map(() => 0);
      const { goneCounts, events } = await this.windows.trim(userId, record.counts, until, changes);
      if (events.length === 0) continue;
      dropped.push(...events);
      const counts = record.counts.map((count, window) => count - (goneCounts[window] ?? 0));
      changes.put.push(...recordEntries(userId, { ...record, counts, purgedMs: nowMs }));
    }
    if (dropped.length > 0) await this.put(changes.erased, changes.put);
    return new Set(dropped.map((key) => key.toString('latin1')));
  }

  /**
   * A user erased while the clock was ahead is not refused until then: from the first event that
   * finds this, what is dated before it is refused, and what is dated after it is taken.
   */
  private corrected(found: UserRecord | undefined): UserRecord {
    const record = found ?? this.noRecord();
    const erasedUntilMs = this.bounded(record.erasedUntilMs);
    return erasedUntilMs === record.erasedUntilMs ? record : { ...record, erasedUntilMs };
  }

  /** No time lies further ahead of the clock than events may: it was set by a clock that was. */
  private bounded(timeMs: number): number {
    return timeMs > this.latestMs() ? this.options.nowMs() : timeMs;
  }

  /** That events may have. */
  private latestMs(): number {
    const { nowMs, latestMs = nowMs } = this.options;
    return latestMs() + FUTURE_MS_MAX;
  }

  private async records(users: readonly string[]): Promise<UserRecord[]> {
    const values = await this.store.get(users.flatMap(keysOfRecord));
    return users.map((_, i) => recordOf(values[2 * i], values[2 * i + 1], this.noRecord()));
  }

  private noRecord(): UserRecord {
    const counts = this.options.retention.windows.map(() => 0);
    const purgedMs = this.options.nowMs();
    return { known: false, profile: {}, erasedUntilMs: -1, counts, purgedMs, arrival: 0 };
  }

  private put(erased: readonly Buffer[], put: readonly StoreEntry[]): Promise<void> {
    return this.store.write({ erased, put, durability: 'machine' });
  }

  /** Runs after all writes before it, whether they succeeded or not. */
  private inTurn<T>(write: () => Promise<T>): Promise<T> {
    const done = this.lastWrite.then(write);
    this.lastWrite = done.catch(() => undefined);
    return done;
  }
}

/**
 * Which end of a window is read. Forwards costs the store half of what backwards does; where all of
 * a window is wanted it holds little more than that.
 */
function endOf(limit: number, behavioursMax: number) {
  return limit < behavioursMax
    ? { limit, direction: 'descending' as const }
    : { limit: Number.POSITIVE_INFINITY, direction: 'ascending' as const };
}

/** Newest behaviours of a window, oldest first. */
function newestOf(found: StoreReading, window: number, limit: number, behavioursMax: number) {
  const entries: StoredEntry[] = [];
  const range = found.range(window);
  const { bytes } = range;
  range.each((keyBegin, valueBegin, valueEnd) => {
    const entry = readBehaviourKey(bytes, keyBegin, valueBegin);
    const payload = bytes.toString('utf8', valueBegin, valueEnd);
    entries.push(Object.assign(entry, { payload }));
  });
  if (limit < behavioursMax) return entries.reverse();
  return entries.length > behavioursMax ? entries.slice(-behavioursMax) : entries;
}

/** True if the entry of `mark` lies at or before that of `last`, in one log. */
function isApplied(mark: string, last: string): boolean {
  const [entry, newest] = [positionOf(mark), positionOf(last)];
  if (entry === undefined || newest === undefined) return false;
  return entry.log === newest.log && entry.offset <= newest.offset;
}
