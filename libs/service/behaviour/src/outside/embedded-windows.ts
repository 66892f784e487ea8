import type { KeyRange, OrderedStore, StoreEntry } from '@tessera/engine';
import type { Retention } from '../domain/retention.js';
import { behaviourKey, cutKey, eventKey, readBehaviourKey, windowRange } from './embedded-keys.js';

const SCAN_LIMIT = 10_000;

/** Changes of a store that belong together. */
export interface WindowChanges {
  readonly erased: Buffer[];
  readonly put: StoreEntry[];
}

/** Keys of behaviours that a window loses. */
interface Leaving {
  readonly gone: readonly StoreEntry[];
  /** Time of the first that stays; where none is beyond the count: up to which all are gone. */
  readonly firstMs: number;
}

/** The behaviour, or that one was cut, and the mark of its event. */
const keysOf = (userId: string, { key }: StoreEntry): [Buffer, Buffer] => [
  key,
  eventKey(userId, readBehaviourKey(key).eventId),
];

/** Reads the windows of users and says what leaves them. Writes nothing. */
export class EmbeddedWindows {
  constructor(
    private readonly store: Pick<OrderedStore, 'read' | 'scan'>,
    private readonly retention: Retention,
  ) {}

  /** Per window all behaviours of a user, and the keys of all that there is of them. */
  async ofUser(userId: string) {
    const all = (letter: 'c' | 'w') =>
      this.eachWindow((window) =>
        this.scanAll(windowRange(userId, window, 0, Number.POSITIVE_INFINITY, letter)),
      );
    const [byWindow, cut] = await Promise.all([all('w'), all('c')]);
    const keys = [...byWindow, ...cut].flat().flatMap((entry) => keysOf(userId, entry));
    return { byWindow, keys };
  }

  /**
   * Behaviours of users that a clock dated which was ahead: they are of now, so that later ones
   * come behind them.
   */
  async redated(users: readonly string[], latestMs: number, nowMs: number): Promise<WindowChanges> {
    const windows = this.retention.windows.map((_, window) => window);
    const places = users.flatMap((userId) => windows.map((window) => ({ userId, window })));
    const ranges = places.map(({ userId, window }): KeyRange => {
      const ahead = windowRange(userId, window, latestMs + 1, Number.POSITIVE_INFINITY);
      return Object.assign(ahead, { limit: SCAN_LIMIT, direction: 'ascending' as const });
    });
    const found = await this.store.read({ keys: [], ranges });
    const changes: WindowChanges = { erased: [], put: [] };
    places.forEach(({ userId, window }, index) => {
      for (const { key, value } of found.entries(index)) {
        const { arrival, eventId } = readBehaviourKey(key);
        const place = { window, timeMs: nowMs };
        changes.erased.push(key);
        changes.put.push({ key: behaviourKey(userId, place, arrival, eventId), value });
      }
    });
    return changes;
  }

  /**
   * Notes what leaves the windows of a user. Of several behaviours of one time the first to arrive
   * leave first; their events stay known while that is the time of the first that is left, since
   * one that is sent again is not the newest.
   * @param counts behaviours per window
   * @param oldest per window the first millisecond that is kept; what is older leaves
   * @returns how many of each window leave, and the keys of their events
   */
  async trim(
    userId: string,
    counts: readonly number[],
    oldest: readonly number[],
    changes: WindowChanges,
  ) {
    const left = await this.eachWindow((window) =>
      this.leaving(userId, window, counts[window] ?? 0, oldest[window] ?? 0),
    );
    const events: Buffer[] = [];
    for (const [window, { gone, firstMs }] of left.entries()) {
      if (gone.length === 0) continue;
      const cuts = await this.scanAll(windowRange(userId, window, 0, firstMs, 'c'));
      changes.erased.push(...cuts.flatMap((entry) => keysOf(userId, entry)));
      for (const { key } of gone) {
        const { timeMs, eventId } = readBehaviourKey(key);
        const event = eventKey(userId, eventId);
        events.push(event);
        changes.erased.push(key);
        const cut = { key: cutKey(userId, { window, timeMs }, eventId), value: Buffer.of() };
        if (timeMs === firstMs) changes.put.push(cut);
        else changes.erased.push(event);
      }
    }
    return { goneCounts: left.map(({ gone }) => gone.length), events };
  }

  async scanAll(range: { readonly from: Buffer; readonly to: Buffer }): Promise<StoreEntry[]> {
    const found: StoreEntry[] = [];
    const { to } = range;
    for (let { from } = range; ; ) {
      const page = { from, to, limit: SCAN_LIMIT, direction: 'ascending' } as const;
      const part = await this.store.scan(page);
      found.push(...part);
      const last = part.at(-1);
      if (part.length < SCAN_LIMIT || last === undefined) return found;
      from = Buffer.concat([last.key, Buffer.of(0)]);
    }
  }

  /** Behaviours that are too old or beyond the count, oldest first. */
  private async leaving(
    userId: string,
    window: number,
    count: number,
    oldestMs: number,
  ): Promise<Leaving> {
    const gone = await this.scanAll(windowRange(userId, window, 0, oldestMs));
    const excess = count - (this.retention.windows[window]?.behavioursMax ?? 0);
    if (excess <= gone.length) return { gone, firstMs: oldestMs };
    const whole = windowRange(userId, window, 0, Number.POSITIVE_INFINITY);
    const found = await this.store.scan({ ...whole, limit: excess + 1, direction: 'ascending' });
    const first = found[excess];
    const firstMs = first === undefined ? oldestMs : readBehaviourKey(first.key).timeMs;
    return { gone: found.slice(0, excess), firstMs };
  }

  private eachWindow<T>(act: (window: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.retention.windows.map((_, window) => act(window)));
  }
}
