import { TesseraError } from '@tessera/errors';
import {
  type Admit,
  type ChainPoint,
  type ClusterLog,
  LEASE_MS,
  type LogBounds,
  type LogEnd,
  type LogEntry,
  NO_OFFSET,
  type NodePosition,
  type Renewal,
  type SeenPosition,
} from '@tessera/log';
import { CONTINUE, type History } from './domain/history.js';
import type { Reached, ReachedOffset } from './reached.js';

/**
 * The log of a cluster as one node may use it. Each read, append and beat compares where it ends
 * with the furthest that anybody is known to have reached: this node, members by their word, and
 * whoever has left a note in the store beside the log. A log that went back is LOG_DIFFERENT for
 * whoever looks, until a person begins it anew.
 */
export class WatchedLog implements ClusterLog {
  readonly place: string;
  /** Furthest offset that was heard of, by the identity of the log. */
  private readonly heard = new Map<string, number>();
  /** The entries that are applied here; undefined: none are yet. */
  own: Pick<History, 'checkBounds' | 'position'> | undefined;
  /** Offset of the slowest node that others wait for, as they said last. */
  slowest = Number.POSITIVE_INFINITY;

  constructor(
    private readonly log: ClusterLog,
    private readonly reached: Reached,
  ) {
    this.place = log.place;
  }

  /** The furthest offset of the log that this node follows which anybody has reached. */
  get furthest(): number {
    const { log = '', offset = NO_OFFSET } = this.own?.position ?? {};
    return Math.max(offset, this.heard.get(log) ?? NO_OFFSET);
  }

  /** Reads what the store has noted, and what members say. Rejects as these do. */
  async hear(): Promise<void> {
    for (const one of await this.reached.all()) this.note(one);
    await this.positions();
  }

  async bounds(): Promise<LogBounds> {
    // An end that is being read need not have the entries that come meanwhile.
    const [heard, before] = [new Map(this.heard), this.own?.position];
    const bounds = await this.log.bounds();
    this.own?.checkBounds(bounds, before);
    this.check(bounds, heard);
    return bounds;
  }

  append(bytes: Uint8Array, after: ChainPoint, admit?: Admit): Promise<number> {
    const heard = new Map(this.heard);
    return this.log.append(bytes, after, (end) => {
      this.check(end, heard);
      admit?.(end);
    });
  }

  async *read(from: number, signal: AbortSignal): AsyncGenerator<readonly LogEntry[]> {
    let end = from - 1;
    for await (const entries of this.log.read(from, signal)) {
      end = entries.at(-1)?.offset ?? end;
      if (entries.length === 0 && end < this.furthest) await this.bounds();
      yield entries;
    }
  }

  async positions(): Promise<readonly SeenPosition[]> {
    const all = await this.log.positions();
    for (const one of all) this.note(one);
    const waited = all.filter(
      ({ standing, ageMs, log }) =>
        standing === 'serving' && ageMs < LEASE_MS && log === this.own?.position.log,
    );
    this.slowest = Math.min(...waited.map(({ offset }) => offset));
    return all;
  }

  begin = (identity: string): Promise<string> => this.log.begin(identity);
  trim = (before: number): Promise<void> => this.log.trim(before);
  say = (position: NodePosition): Promise<number> => this.log.say(position);
  leave = (position: NodePosition): Promise<void> => this.log.leave(position);
  digestAt = (offset: number, digest: string) => this.log.digestAt(offset, digest);
  beginAnew = (identity: string, anew: Renewal) => this.log.beginAnew(identity, anew);
  close = (): Promise<void> => this.log.close();

  private note({ log, offset }: ReachedOffset): void {
    // A node of the release before does not say which log it follows.
    if (log === '') return;
    this.heard.set(log, Math.max(offset, this.heard.get(log) ?? NO_OFFSET));
  }

  /** @throws TesseraError LOG_DIFFERENT where entries are missing that somebody has had */
  private check({ identity, end, anew }: LogEnd, heard: ReadonlyMap<string, number>): void {
    for (const [log, offset] of heard) {
      if (log === identity ? offset <= end : anew?.continues.includes(log)) continue;
      const got = identity === '' ? 'a log that nobody has begun' : `${identity} up to ${end}`;
      const expected = `expected log ${log} with entries up to ${offset}, which nodes have had`;
      const remedy = `Restore it, or go on with the state of a node by: ${CONTINUE}`;
      throw new TesseraError('LOG_DIFFERENT', `${this.place}: ${expected}, got ${got}. ${remedy}`);
    }
  }
}
