import { writeFile } from 'node:fs/promises';
import { TesseraError } from '@tessera/errors';
import { partsOfRegular } from '@tessera/files';
import {
  type ClusterLog,
  type EntryStore,
  type LogBounds,
  type LogEntry,
  NO_OFFSET,
  type NodePosition,
  type SeenPosition,
} from '@tessera/log';

const HEARTBEAT_MS = 200;
const YIELD_ENTRIES_MAX = 512;

/** State that all handles of one log share. */
export class MemoryLogState {
  identity = '';
  /** Offset of the first of `entries`. */
  first = 1;
  entries: LogEntry[] = [];
  readonly positions = new Map<string, NodePosition & { readonly saidMs: number }>();
  readonly digests = new Map<number, string>();
  /** Every call of every handle rejects while it is set. */
  away = false;
  private waiting: (() => void)[] = [];

  get end(): number {
    return this.first + this.entries.length - 1;
  }

  append(bytes: Uint8Array): number {
    const atMs = Math.max(Date.now(), this.entries.at(-1)?.atMs ?? 0);
    this.entries.push({ offset: this.end + 1, atMs, bytes: Uint8Array.from(bytes) });
    this.wake();
    return this.end;
  }

  /** Every reader looks again. */
  wake(): void {
    for (const go of this.waiting.splice(0)) go();
  }

  /** Resolves with the next entry, with the time of a heartbeat, or where the signal is aborted. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setInterval(() => go(), HEARTBEAT_MS);
      const go = () => {
        clearInterval(timer);
        signal.removeEventListener('abort', go);
        resolve();
      };
      signal.addEventListener('abort', go, { once: true });
      this.waiting.push(go);
      if (signal.aborted) go();
    });
  }
}

/** A log in this process: handles of one state are the nodes of a cluster. */
export class MemoryLog implements ClusterLog {
  readonly place = 'memory';
  /** Every call of this handle rejects while it is set; `state.away`: of all handles. */
  away = false;
  private readonly closing = new AbortController();

  constructor(readonly state: MemoryLogState = new MemoryLogState()) {}

  async bounds(): Promise<LogBounds> {
    this.check();
    const { identity, first, end } = this.state;
    return { identity, first, end };
  }

  async begin(identity: string): Promise<string> {
    this.check();
    this.state.identity ||= identity;
    return this.state.identity;
  }

  async append(bytes: Uint8Array): Promise<number> {
    this.check();
    return this.state.append(bytes);
  }

  async *read(from: number, signal: AbortSignal): AsyncGenerator<readonly LogEntry[]> {
    const ended = AbortSignal.any([signal, this.closing.signal]);
    const { state } = this;
    for (let next = Math.max(from, NO_OFFSET + 1); !ended.aborted; ) {
      this.check();
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
    this.check();
    const count = Math.max(0, Math.min(before, this.state.end + 1) - this.state.first);
    this.state.entries.splice(0, count);
    this.state.first += count;
    this.state.wake();
  }

  async say(position: NodePosition): Promise<void> {
    this.check();
    const { node, process, offset, digest } = position;
    const saidMs = performance.now();
    this.state.positions.set(node, { node, process, offset, digest, saidMs });
  }

  async positions(): Promise<readonly SeenPosition[]> {
    this.check();
    const now = performance.now();
    return [...this.state.positions.values()].map(({ saidMs, ...position }) => ({
      ...position,
      ageMs: now - saidMs,
    }));
  }

  async leave({ node, process }: NodePosition): Promise<void> {
    this.check();
    const { positions } = this.state;
    if (positions.get(node)?.process === process) positions.delete(node);
  }

  async digestAt(offset: number, digest: string): Promise<string> {
    this.check();
    const kept = this.state.digests.get(offset) ?? digest;
    this.state.digests.set(offset, kept);
    return kept;
  }

  async close(): Promise<void> {
    this.closing.abort();
  }

  private check(): void {
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
