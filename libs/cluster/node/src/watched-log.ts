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
import type { NotedReach, Reached, ReachedNote } from './reached.js';

/**
 * The log of a cluster as one node may use it. Each read, append and beat compares where it ends
 * with the furthest that anybody is known to have reached: this node, members by their word, and
 * whoever has left a note in the store beside the log. Notes are compared with the entries that
 * the log has there, too: a log that went back may have grown again. It is LOG_DIFFERENT for
 * whoever looks, until a person begins it anew.
 */
export class WatchedLog implements ClusterLog {
  readonly place: string;
  /** Furthest offset that was heard of, by the identity of the log. */
  private readonly heard = new Map<string, number>();
  /** A noted entry in whose place the log that this node follows has another one. */
  private lost: ReachedNote | undefined;
  /** Names of notes whose entries are applied here. */
  private alike: ReadonlySet<string> = new Set();
  /** The entries that are applied here; undefined: none are yet. */
  own: Pick<History, 'chainAt' | 'checkBounds' | 'position'> | undefined;
  /** Offset of the slowest node that others wait for, as they said last. */
  slowest = Number.POSITIVE_INFINITY;

  constructor(
    private readonly log: ClusterLog,
    private readonly reached: Reached,
  ) {
    this.place = log.place;
  }

  /** True if somebody has had entries that this node lacks, as far as is known. */
  isBeyond(offset: number): boolean {
    return this.lost !== undefined || offset < this.furthest;
  }

  /** Reads what the store has noted, and what members say. Rejects as these do. */
  async hear(): Promise<void> {
    await this.compare(await this.reached.all());
    await this.positions();
  }

  /**
   * Compares the log with what nodes have noted. Rejects with LOG_DIFFERENT where it lacks an entry
   * of these, and as the log does where that cannot be known.
   */
  async compare(notes: readonly ReachedNote[]): Promise<void> {
    for (const one of notes) this.note(one);
    const alike = new Set<string>();
    const applied = this.own?.position.offset ?? NO_OFFSET;
    for (const one of notes) {
      const isAlike = this.alike.has(one.name) || (await this.isAlike(one));
      if (!isAlike) this.lost = one;
      // The log may yet have another entry in the place of one that is not applied here.
      else if (one.offset <= applied) alike.add(one.name);
    }
    this.alike = alike;
    if (this.lost !== undefined) throw this.withoutNoted(this.lost);
  }

  /**
   * Chain up to an entry, as it is applied here, else as the log has it; '': the entry is not there
   * any more, or the log keeps no chain.
   */
  async chainAt(offset: number): Promise<string> {
    const own = this.own?.chainAt(offset);
    if (own !== undefined) return own;
    const { first } = await this.bounds();
    if (offset < first) return '';
    const reading = new AbortController();
    try {
      for await (const [entry] of this.log.read(offset, reading.signal)) return entry?.chain ?? '';
    } finally {
      reading.abort();
    }
    return '';
  }

  /** As compare(), with the note that this process has just made: it is kept, or withdrawn. */
  async compareNoted(noted: NotedReach): Promise<void> {
    try {
      await this.compare(noted.all);
    } catch (thrown) {
      void this.reached.withdraw().catch(() => undefined);
      throw thrown;
    }
    // A note that is left behind goes with the next one.
    void this.reached.keep(noted).catch(() => undefined);
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
      const isShort = entries.length === 0 && end < this.furthest;
      if (isShort || this.lost !== undefined) await this.bounds();
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

  /** The furthest offset of the log that this node follows which anybody has reached. */
  private get furthest(): number {
    const { log = '', offset = NO_OFFSET } = this.own?.position ?? {};
    return Math.max(offset, this.heard.get(log) ?? NO_OFFSET);
  }

  private note({ log, offset }: Pick<ReachedNote, 'log' | 'offset'>): void {
    // A node of the release before does not say which log it follows.
    if (log === '') return;
    this.heard.set(log, Math.max(offset, this.heard.get(log) ?? NO_OFFSET));
  }

  /** True unless the log is known to have another entry than the one that is noted. */
  private async isAlike({ log, offset, chain }: ReachedNote): Promise<boolean> {
    const isKnown = log === this.own?.position.log && offset > NO_OFFSET && chain !== '';
    if (!isKnown) return true;
    const there = await this.chainAt(offset);
    return there === '' || there === chain;
  }

  /** @throws TesseraError LOG_DIFFERENT where entries are missing that somebody has had */
  private check({ identity, end, anew }: LogEnd, heard: ReadonlyMap<string, number>): void {
    const { lost } = this;
    if (lost?.log === identity) throw this.withoutNoted(lost);
    for (const [log, offset] of heard) {
      if (log === identity ? offset <= end : anew?.continues.includes(log)) continue;
      const got = identity === '' ? 'a log that nobody has begun' : `${identity} up to ${end}`;
      const expected = `expected log ${log} with entries up to ${offset}, which nodes have had`;
      throw this.different(`${expected}, got ${got}`);
    }
  }

  private withoutNoted({ offset, chain }: ReachedNote): TesseraError {
    const expected = `expected entry ${offset} with digest ${chain}, which nodes have had`;
    return this.different(`${expected}, got another one`);
  }

  private different(what: string): TesseraError {
    const remedy = `Restore it, or go on with the state of a node by: ${CONTINUE}`;
    return new TesseraError('LOG_DIFFERENT', `${this.place}: ${what}. ${remedy}`);
  }
}
