import { randomUUID } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import type { EtcdStep, NodeKey } from '@tessera/etcd';
import { type Admit, type ChainPoint, NO_OFFSET } from '../domain/cluster-log.js';
import { chained } from '../domain/entries.js';
import {
  baseOf,
  headOf,
  type LogHead,
  linkBytes,
  linkOf,
  recordBytes,
} from '../domain/etcd-records.js';
import type { EtcdKeys } from './etcd-keys.js';

/** Maximum bytes of one transaction: etcd takes 1.5 MiB and 128 operations. */
const BATCH_BYTES_MAX = 1 << 20;
const BATCH_ENTRIES_MAX = 100;
/** Others that append at once move the head: each refusal says where it is. */
const ATTEMPTS_MAX = 64;

interface Waiting {
  readonly bytes: Uint8Array;
  readonly after: ChainPoint;
  readonly admit: Admit | undefined;
  readonly resolve: (offset: number) => void;
  readonly reject: (thrown: unknown) => void;
}

/** Appends of this process to a log in etcd, one transaction at a time, each of all that wait. */
export class EtcdAppends {
  private waiting: Waiting[] = [];
  private isRunning = false;
  /** Head of the log as last read; undefined: it must be read again. */
  private head: LogHead | undefined;

  constructor(
    private readonly nodeKey: NodeKey,
    private readonly keys: EtcdKeys,
    private readonly place: string,
  ) {}

  append(bytes: Uint8Array, after: ChainPoint, admit?: Admit): Promise<number> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ bytes, after, admit, resolve, reject });
      if (!this.isRunning) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) {
      const batch = this.batch();
      try {
        await this.commit(batch);
      } catch (thrown) {
        for (const { reject } of batch) reject(thrown);
      }
    }
    this.isRunning = false;
  }

  private batch(): Waiting[] {
    let bytes = 0;
    const fits = (one: Waiting, at: number) => {
      bytes += one.bytes.length;
      return at === 0 || (at < BATCH_ENTRIES_MAX && bytes <= BATCH_BYTES_MAX);
    };
    const end = this.waiting.findIndex((one, at) => !fits(one, at));
    return this.waiting.splice(0, end === -1 ? this.waiting.length : end);
  }

  private async commit(all: readonly Waiting[]): Promise<void> {
    let batch = all;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      await this.nodeKey.hold();
      const seen = this.head;
      const head = seen ?? (await this.readHead());
      const wrong = await this.thoseOfAnother(batch, head);
      // As it was seen last, it may be shorter than it is.
      if (wrong.size > 0 && seen !== undefined) {
        this.head = undefined;
        continue;
      }
      for (const [{ after, reject }, chain] of wrong) reject(this.different(after, head, chain));
      const others = batch.filter((one) => !wrong.has(one));
      const refused = refusedBy(others, head);
      if (refused.size > 0 && seen !== undefined) {
        this.head = undefined;
        continue;
      }
      for (const [{ reject }, thrown] of refused) reject(thrown);
      batch = others.filter((one) => !refused.has(one));
      if (batch.length === 0 || (await this.put(batch, head))) return;
    }
    const message = `${this.place}: expected to append, got ${ATTEMPTS_MAX} others before`;
    throw new TesseraError('STORE_UNAVAILABLE', message);
  }

  /** False: the head has moved, or the node has lost its key. */
  private async put(batch: readonly Waiting[], head: LogHead): Promise<boolean> {
    const { keys, nodeKey } = this;
    const atMs = Math.max(nodeKey.etcd.nowMs, head.atMs);
    let { offset, chain } = head;
    const puts: EtcdStep[] = batch.map(({ bytes }) => {
      offset += 1;
      chain = chained(chain, bytes);
      return { put: keys.entry(offset), value: linkBytes(atMs, chain, bytes) };
    });
    const by = randomUUID();
    const next: LogHead = Object.assign({}, head, { offset, chain, atMs, by });
    puts.push({ put: keys.head, value: recordBytes(next) });
    const conditions = [{ key: keys.head, value: recordBytes(head) }, nodeKey.condition];
    const otherwise = [{ get: keys.head }, { get: nodeKey.key }];
    this.head = undefined;
    const { holds, found } = await nodeKey.etcd.transact(conditions, { where: puts, otherwise });
    const [there, own] = found.map(([entry]) => entry);
    const now = holds ? next : there && headOf(there.value);
    // Two members may get the request: the second finds the entries of the first.
    if (!holds && now?.by !== by) {
      if (own?.created !== nodeKey.condition.created) nodeKey.lost();
      this.head = now;
      return false;
    }
    this.head = next;
    for (const [at, { resolve }] of batch.entries()) resolve(head.offset + 1 + at);
    return true;
  }

  private async readHead(): Promise<LogHead> {
    const get = { get: this.keys.head };
    const { found } = await this.nodeKey.etcd.transact([], { where: [get] });
    const entry = found[0]?.[0];
    if (entry !== undefined) return headOf(entry.value);
    const message = `${this.place}: expected a log that somebody has begun, got none`;
    throw new TesseraError('LOG_DIFFERENT', message);
  }

  /**
   * Appends whose appender has applied another history, with the chain of the log at that place.
   */
  private async thoseOfAnother(
    batch: readonly Waiting[],
    head: LogHead,
  ): Promise<Map<Waiting, string>> {
    const wrong = new Map<Waiting, string>();
    const chains = new Map<number, string | undefined>();
    for (const one of batch) {
      const { offset, chain } = one.after;
      if (!chains.has(offset)) chains.set(offset, await this.chainAt(offset, head));
      const found = chains.get(offset);
      // Of a position that an earlier release has written the offset alone is known.
      const isKnown = found !== undefined && (found === '' || chain !== '');
      if (isKnown && found !== chain) wrong.set(one, found);
    }
    return wrong;
  }

  /** '' behind the end of the log; undefined where the server does not know any more. */
  private async chainAt(offset: number, head: LogHead): Promise<string | undefined> {
    if (offset > head.offset) return '';
    if (offset === head.offset) return head.chain;
    if (offset === NO_OFFSET) return head.identity;
    const gets = [{ get: this.keys.entry(offset) }, { get: this.keys.base }];
    const { found } = await this.nodeKey.etcd.transact([], { where: gets });
    const [entry, base] = found.map(([one]) => one?.value);
    if (entry !== undefined) return linkOf(offset, entry).chain;
    const trimmed = base && baseOf(base);
    return trimmed?.offset === offset ? trimmed.chain : undefined;
  }

  private different(after: ChainPoint, { offset }: LogHead, got: string): TesseraError {
    const expected = `expected entry ${after.offset} with digest ${after.chain}, applied here`;
    const found = got === '' ? `entries up to ${offset}` : `one with digest ${got}`;
    return new TesseraError('LOG_DIFFERENT', `${this.place}: ${expected}, got ${found}`);
  }
}

/** Appends that may not come behind this end of the log, with what they are to reject with. */
function refusedBy(batch: readonly Waiting[], head: LogHead): Map<Waiting, unknown> {
  const { identity, offset: end, anew } = head;
  const refused = new Map<Waiting, unknown>();
  for (const one of batch) {
    try {
      one.admit?.({ identity, end, anew });
    } catch (thrown) {
      refused.set(one, thrown);
    }
  }
  return refused;
}
