import { setTimeout as pause } from 'node:timers/promises';
import { TesseraError } from '@tessera/errors';
import { type Etcd, type EtcdEntry, endOf, type NodeKey, nodesOf } from '@tessera/etcd';
import {
  type Admit,
  type ChainPoint,
  type ClusterLog,
  type LogBounds,
  type LogEntry,
  NO_OFFSET,
  type NodePosition,
  type Renewal,
  type SeenPosition,
} from '../domain/cluster-log.js';
import { baseOf, headOf, type LogHead, linkOf, recordBytes } from '../domain/etcd-records.js';
import { countFor, inYields } from '../domain/log-yields.js';
import { EtcdAppends } from './etcd-appends.js';
import { EtcdKeys } from './etcd-keys.js';

/** An idle reader looks so often whether the log is still the one that it has read. */
const LOOK_EVERY_MS = 800;
const DIGESTS_KEPT = 4096;
const DIGEST_PRUNED_EVERY = 64;
/** Entries removed in one transaction, which etcd applies in one step. */
const TRIMMED_AT_ONCE = 4096;

/**
 * A log in etcd. An append is one transaction that compares the head and the key of the node: what
 * arrives late, or after the node lost its lease, or behind another history, cannot land. Each
 * entry has the digest of all up to it.
 */
export class EtcdLog implements ClusterLog {
  readonly place: string;
  private readonly keys: EtcdKeys;
  private readonly etcd: Etcd;
  private readonly appends: EtcdAppends;
  private readonly closing = new AbortController();

  /** The key of this process is its lease; other processes are counted by theirs. */
  constructor(private readonly nodeKey: NodeKey) {
    this.etcd = nodeKey.etcd;
    this.keys = new EtcdKeys(nodeKey.cluster);
    this.place = `etcd, ${this.keys.prefix}`;
    this.appends = new EtcdAppends(nodeKey, this.keys, this.place);
  }

  async bounds(): Promise<LogBounds> {
    const { keys } = this;
    const gets = [{ get: keys.base }, { get: keys.head }];
    const { found } = await this.etcd.transact([], { where: gets });
    const [base, head] = found.map(([entry]) => entry?.value);
    const first = (base === undefined ? NO_OFFSET : baseOf(base).offset) + 1;
    if (head === undefined) return { identity: '', first, end: NO_OFFSET };
    const { identity, offset, chain, anew } = headOf(head);
    return { identity, first, end: offset, chain, anew };
  }

  async begin(identity: string): Promise<string> {
    const { head: key } = this.keys;
    const head: LogHead = newHead(identity, this.etcd.nowMs);
    const steps = { where: [{ put: key, value: recordBytes(head) }], otherwise: [{ get: key }] };
    const { holds, found } = await this.etcd.transact([{ key, created: '0' }], steps);
    const there = found[0]?.[0];
    return holds || there === undefined ? identity : headOf(there.value).identity;
  }

  append(bytes: Uint8Array, after: ChainPoint, admit?: Admit): Promise<number> {
    return this.appends.append(bytes, after, admit);
  }

  /** Also throws LOG_DIFFERENT where the log is not the one that it gave. */
  async *read(from: number, signal: AbortSignal): AsyncGenerator<readonly LogEntry[]> {
    const ended = AbortSignal.any([signal, this.closing.signal]);
    const wakes = new Wakes(ended);
    let next = Math.max(from, NO_OFFSET + 1);
    let count = countFor([], 0);
    let last: LogEntry | undefined;
    try {
      void this.etcd.watch(this.keys.head, () => wakes.wake(), ended);
      while (!ended.aborted) {
        const woken = wakes.next(LOOK_EVERY_MS);
        const entries = await this.take(next, count);
        if (entries.length === 0 && (await this.isAtEnd(next, last))) {
          yield [];
          await woken;
        }
        for (const part of inYields(entries)) {
          next += part.length;
          yield part;
        }
        last = entries.at(-1) ?? last;
        count = countFor(entries, count);
      }
    } catch (thrown) {
      if (!ended.aborted) throw thrown;
    }
  }

  async trim(before: number): Promise<void> {
    const { keys } = this;
    const { first, end } = await this.bounds();
    for (let from = first; from < Math.min(before, end + 1); ) {
      const to = Math.min(before, end + 1, from + TRIMMED_AT_ONCE);
      const [last] = await this.take(to - 1, 1);
      if (last?.chain === undefined) return;
      const base = recordBytes({ offset: last.offset, chain: last.chain });
      const remove = { remove: keys.entry(0), end: keys.entry(to) };
      await this.etcd.transact([], { where: [{ put: keys.base, value: base }, remove] });
      from = to;
    }
  }

  async say({ node: _, ...word }: NodePosition): Promise<number> {
    await this.nodeKey.put({ log: word });
    return this.nodeKey.heldUntilMs;
  }

  async positions(): Promise<readonly SeenPosition[]> {
    const prefix = nodesOf(this.nodeKey.cluster);
    const get = { get: prefix, end: endOf(prefix) };
    const { found } = await this.etcd.transact([], { where: [get] });
    return (found[0] ?? []).flatMap((entry) => positionIn(prefix, entry));
  }

  /** The process may be a member on. */
  async leave(): Promise<void> {
    await this.nodeKey.put({ log: null });
  }

  async beginAnew(identity: string, anew: Renewal): Promise<void> {
    const { keys } = this;
    const head = Object.assign(newHead(identity, this.etcd.nowMs), { anew });
    await this.etcd.transact([], {
      where: [
        { remove: keys.prefix, end: keys.head },
        { put: keys.head, value: recordBytes(head) },
        { remove: keys.behindHead, end: keys.end },
      ],
    });
  }

  async digestAt(offset: number, digest: string): Promise<string> {
    const { keys } = this;
    const key = keys.digest(offset);
    const steps = {
      where: [{ put: key, value: Buffer.from(digest) }],
      otherwise: [{ get: key }],
    };
    const { found } = await this.etcd.transact([{ key, created: '0' }], steps);
    if (offset % DIGEST_PRUNED_EVERY === 0 && offset > DIGESTS_KEPT) {
      const remove = { remove: keys.digest(0), end: keys.digest(offset - DIGESTS_KEPT) };
      await this.etcd.transact([], { where: [remove] });
    }
    return found[0]?.[0]?.value.toString() ?? digest;
  }

  /** Readers end. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.nodeKey.leave();
  }

  /** Entries from an offset on, without a hole. */
  private async take(next: number, count: number): Promise<LogEntry[]> {
    const { keys } = this;
    const get = { get: keys.entry(next), end: keys.entriesEnd, limit: count };
    const { found } = await this.etcd.transact([], { where: [get] });
    const entries = (found[0] ?? []).map(({ key, value }) => linkOf(keys.offsetOf(key), value));
    const wrong = entries.find(({ offset }, index) => offset !== next + index);
    if (wrong !== undefined) throw this.trimmed(next, wrong.offset);
    return entries;
  }

  private async isAtEnd(next: number, last: LogEntry | undefined): Promise<boolean> {
    const { first, end, chain } = await this.bounds();
    if (first > next) throw this.trimmed(next, first);
    if (end >= next) return false;
    const isSame = last === undefined || last.offset < end || chain === last.chain;
    if (end === next - 1 && isSame) return true;
    const expected = `expected entries up to ${next - 1}${last ? `, digest ${last.chain}` : ''}`;
    const message = `${this.place}: ${expected}, got them up to ${end}, digest ${chain ?? 'none'}`;
    throw new TesseraError('LOG_DIFFERENT', message);
  }

  private trimmed(next: number, got: number): TesseraError {
    const message = `${this.place}: expected entries from ${next} on, got them from ${got} on`;
    return new TesseraError('LOG_TRIMMED', message);
  }
}

function newHead(identity: string, atMs: number): LogHead {
  return { identity, offset: NO_OFFSET, chain: identity, atMs, by: '' };
}

/** [] for a process that follows no log, or has yet to say how far it is. */
function positionIn(prefix: string, { key, value }: EtcdEntry): SeenPosition[] {
  try {
    const { log } = JSON.parse(value.toString());
    if (typeof log?.offset !== 'number') return [];
    const named = { node: key.slice(prefix.length), ageMs: 0 };
    return [Object.assign(wordBefore(log.needsSnapshot === true), log, named) as SeenPosition];
  } catch {
    return [];
  }
}

/** Members that the word of a node of the release before does not have. */
const wordBefore = (wantsSnapshot: boolean) => ({
  log: '',
  standing: wantsSnapshot ? 'wants-snapshot' : 'serving',
  open: [],
  canSnapshot: true,
});

/** Wakes a reader: what happens between two waits is not lost. */
class Wakes {
  private waiting: AbortController | undefined;

  constructor(private readonly signal: AbortSignal) {}

  wake(): void {
    this.waiting?.abort();
  }

  /** Resolves with the next wake after the call, or the time. */
  async next(patienceMs: number): Promise<void> {
    const waiting = new AbortController();
    this.waiting = waiting;
    const signal = AbortSignal.any([this.signal, waiting.signal]);
    await pause(patienceMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
