import { writeFile } from 'node:fs/promises';
import { TesseraError } from '@tessera/errors';
import { partsOfRegular } from '@tessera/files';
import {
  type Admit,
  type ChainPoint,
  type ClusterLog,
  chained,
  type EntryStore,
  LEASE_MS,
  type LogBounds,
  type LogEntry,
  NO_OFFSET,
  type NodePosition,
  type Renewal,
  type SeenPosition,
} from '@tessera/log';
import { type Clock, PROCESS_CLOCK } from '@tessera/turns';

const HEARTBEAT_MS = 200;
const YIELD_ENTRIES_MAX = 512;

/** An older copy of a log, as a server is restored from. */
export interface LogCopy {
  readonly entries: readonly LogEntry[];
  readonly first: number;
  readonly before: string;
}

/** State that all handles of one log share. */
export class MemoryLogState {
  identity = '';
  anew: Renewal | undefined;
  /** Chain of the entries before the first that is there. */
  private before = '';
  /** Offset of the first of `entries`. */
  first = 1;
  entries: LogEntry[] = [];
  /** Times that the server was put back: appends on their way to the one before are lost. */
  restored = 0;
  readonly positions = new Map<string, NodePosition & { readonly saidMs: number }>();
  readonly digests = new Map<number, string>();
  /** Every call of every handle rejects while it is set. */
  away = false;
  private waiting: AbortController[] = [];

  constructor(
    readonly clock: Clock = PROCESS_CLOCK,
    /** Milliseconds after which an idle reader hears that there is nothing. */
    private readonly heartbeatMs = HEARTBEAT_MS,
  ) {}

  get end(): number {
    return this.first + this.entries.length - 1;
  }

  get chain(): string {
    return this.entries.at(-1)?.chain ?? (this.before || this.identity);
  }

  /** Chain of the entries up to an offset; undefined: they are gone, or have yet to come. */
  chainAt(offset: number): string | undefined {
    if (offset === this.end) return this.chain;
    if (offset === 0) return this.identity;
    if (offset === this.first - 1) return this.before;
    return this.entries[offset - this.first]?.chain;
  }

  trim(count: number): void {
    this.before = this.entries.splice(0, count).at(-1)?.chain ?? this.before;
    this.first += count;
    this.wake();
  }

  /** Acts as a server restored from an older copy of it, with the positions that it had. */
  cutBehind(offset: number): void {
    this.entries.splice(offset + 1 - this.first);
    for (const [node, position] of this.positions) {
      if (position.offset > offset) this.positions.delete(node);
    }
    this.digests.clear();
    this.wake();
  }

  beginAnew(identity: string, anew: Renewal): void {
    Object.assign(this, { identity, anew, first: 1, entries: [], before: '' });
    this.digests.clear();
    this.wake();
  }

  append(bytes: Uint8Array): number {
    const nowMs = this.clock === PROCESS_CLOCK ? Date.now() : this.clock.nowMs();
    const atMs = Math.max(nowMs, this.entries.at(-1)?.atMs ?? 0);
    const chain = chained(this.chain, bytes);
    this.entries.push({ offset: this.end + 1, atMs, bytes: Uint8Array.from(bytes), chain });
    this.wake();
    return this.end;
  }

  copy(): LogCopy {
    const { entries, first, before } = this;
    return { entries: [...entries], first, before };
  }

  /** Acts as a server restored from a copy of it, with the positions that it has. */
  restore({ entries, first, before }: LogCopy): void {
    Object.assign(this, { entries: [...entries], first, before, restored: this.restored + 1 });
    this.digests.clear();
    this.wake();
  }

  /** Every reader looks again. */
  wake(): void {
    for (const waiting of this.waiting.splice(0)) waiting.abort();
  }

  /** Resolves with the next entry, with the time of a heartbeat, or where the signal is aborted. */
  async changed(signal: AbortSignal, clock = this.clock): Promise<void> {
    const waiting = new AbortController();
    this.waiting.push(waiting);
    await clock.pause(this.heartbeatMs, AbortSignal.any([signal, waiting.signal]));
    this.waiting = this.waiting.filter((one) => one !== waiting);
  }
}

/** A log in this process: handles of one state are the nodes of a cluster. */
export class MemoryLog implements ClusterLog {
  readonly place = 'memory';
  /** Every call of this handle rejects while it is set; `state.away`: of all handles. */
  away = false;
  /** An append is on its way until it resolves; false: its answer is lost. */
  onItsWay: (() => Promise<boolean>) | undefined;
  private readonly closing = new AbortController();

  constructor(
    readonly state: MemoryLogState = new MemoryLogState(),
    private readonly leaseMs = LEASE_MS,
    /** Resolves when the process of the handle runs. */
    private readonly gate: () => Promise<void> = () => Promise.resolve(),
  ) {}

  async bounds(): Promise<LogBounds> {
    await this.check();
    const { identity, first, end, chain, anew } = this.state;
    return { identity, first, end, chain, anew };
  }

  async begin(identity: string): Promise<string> {
    await this.check();
    this.state.identity ||= identity;
    return this.state.identity;
  }

  async append(bytes: Uint8Array, after: ChainPoint, admit?: Admit): Promise<number> {
    for (;;) {
      await this.check();
      this.checkHistory(after);
      const { identity, end, anew, chain, restored } = this.state;
      admit?.({ identity, end, anew });
      const isAnswered = (await this.onItsWay?.()) ?? true;
      // It lands behind the end that it was sent for, and behind no other one.
      if (this.state.chain !== chain || this.state.restored !== restored) continue;
      const offset = this.state.append(bytes);
      if (isAnswered) return offset;
      throw new TesseraError('STORE_UNAVAILABLE', `${this.place}: it does not answer`);
    }
  }

  async *read(from: number, signal: AbortSignal): AsyncGenerator<readonly LogEntry[]> {
    const ended = AbortSignal.any([signal, this.closing.signal]);
    const { state } = this;
    for (let next = Math.max(from, NO_OFFSET + 1); !ended.aborted; ) {
      await this.check();
      if (next > state.end + 1) {
        const message = `${this.place}: expected entries up to ${next - 1}, got ${state.end}`;
        throw new TesseraError('LOG_DIFFERENT', message);
      }
      if (next < state.first) {
        const message = `${this.place}: expected entries from ${next} on, got ${state.first}`;
        throw new TesseraError('LOG_TRIMMED', message);
      }
      const at = next - state.first;
      const entries = state.entries.slice(at, at + YIELD_ENTRIES_MAX);
      next = (entries.at(-1)?.offset ?? next - 1) + 1;
      yield entries;
      if (entries.length === 0) await state.changed(ended);
    }
  }

  async trim(before: number): Promise<void> {
    await this.check();
    this.state.trim(Math.max(0, Math.min(before, this.state.end + 1) - this.state.first));
  }

  async say(position: NodePosition): Promise<number> {
    await this.check();
    const { node, process } = position;
    const there = this.state.positions.get(node);
    const saidMs = this.state.clock.nowMs();
    const isHeld = there !== undefined && saidMs - there.saidMs < LEASE_MS;
    if (isHeld && there.process !== process) {
      const message = `node.name: expected a name that no other node has, got ${node}`;
      throw new TesseraError('CONFIG_INVALID', message, { field: 'node.name' });
    }
    this.state.positions.set(node, Object.assign({}, position, { saidMs }));
    return saidMs + this.leaseMs;
  }

  async positions(): Promise<readonly SeenPosition[]> {
    await this.check();
    const now = this.state.clock.nowMs();
    return [...this.state.positions.values()].map(({ saidMs, ...position }) => ({
      ...position,
      ageMs: now - saidMs,
    }));
  }

  async leave({ node, process }: NodePosition): Promise<void> {
    await this.check();
    const { positions } = this.state;
    if (positions.get(node)?.process === process) positions.delete(node);
  }

  async beginAnew(identity: string, anew: Renewal): Promise<void> {
    await this.check();
    this.state.beginAnew(identity, anew);
  }

  async digestAt(offset: number, digest: string): Promise<string> {
    await this.check();
    const kept = this.state.digests.get(offset) ?? digest;
    this.state.digests.set(offset, kept);
    return kept;
  }

  async close(): Promise<void> {
    this.closing.abort();
  }

  /** @throws TesseraError LOG_DIFFERENT where the log does not go on from that point */
  private checkHistory({ offset, chain: applied }: ChainPoint): void {
    const chain = offset > this.state.end ? '' : this.state.chainAt(offset);
    const isKnown = chain !== undefined && (chain === '' || applied !== '');
    if (!isKnown || chain === applied) return;
    const message = `${this.place}: expected entry ${offset} with digest ${applied}`;
    throw new TesseraError('LOG_DIFFERENT', `${message}, got ${chain || 'a shorter log'}`);
  }

  private async check(): Promise<void> {
    await this.gate();
    if (!this.away && !this.state.away) return;
    throw new TesseraError('STORE_UNAVAILABLE', `${this.place}: it is away`);
  }
}

/** An entry store in this process: handles of one map are those of several nodes. */
export class MemoryEntryStore implements EntryStore {
  readonly place = 'memory';
  /** Every call of this handle rejects while it is set. */
  away = false;

  constructor(readonly contents: Map<string, Uint8Array> = new Map()) {}

  async put(name: string, content: Uint8Array): Promise<void> {
    this.check();
    if (!this.contents.has(name)) this.contents.set(name, Uint8Array.from(content));
  }

  async putFile(name: string, path: string): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of partsOfRegular(path)) parts.push(part);
    await this.put(name, Buffer.concat(parts));
  }

  async get(name: string): Promise<Uint8Array> {
    this.check();
    const content = this.contents.get(name);
    if (content !== undefined) return content;
    throw new TesseraError('STORE_CORRUPT', `${this.place}: expected ${name}, got nothing`);
  }

  async getFile(name: string, path: string): Promise<void> {
    await writeFile(path, await this.get(name));
  }

  async list(prefix: string): Promise<readonly string[]> {
    this.check();
    return [...this.contents.keys()].filter((name) => name.startsWith(prefix));
  }

  async remove(name: string): Promise<void> {
    this.check();
    this.contents.delete(name);
  }

  private check(): void {
    if (!this.away) return;
    throw new TesseraError('STORE_UNAVAILABLE', `${this.place}: it is away`);
  }
}
