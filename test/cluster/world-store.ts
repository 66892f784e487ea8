/** Disk of a seat of a simulated world, and the link of its process to the entry store. */

import { createHash } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import type { EntryStore } from '@tessera/log';
import {
  fileName,
  type Manifest,
  type NoteName,
  type Placing,
  type StateFiles,
} from '@tessera/node';
import { MemoryPending } from '@tessera/testing';

export const STORES = ['behaviours', 'records', 'pool'] as const;

type Gate = () => Promise<void>;

/** State that entries change: words with their offsets, and the mark kept with them. */
interface State {
  readonly words: readonly string[];
  readonly mark: string;
}

/** Faults of a node's disk and of its stores of users' data; they outlive its processes. */
export class WorldDisk {
  words: string[] = [];
  mark = '';
  /** An entry fails with it while it is set. */
  failing: TesseraError | undefined;
  /** Stores of users' data that do not answer, or `STORE USER`: one user of theirs. */
  readonly hanging = new Set<string>();
  /** `STORE USER`: refused for good. */
  readonly refusing = new Set<string>();
  readonly pending = new MemoryPending();
  readonly notes = new Map<NoteName, string>();
  /** Milliseconds at which data of a user came to a store, by `STORE USER`. */
  readonly users = new Map<string, number>();
  fetched: State | undefined;
  /** States that were put aside for a person. */
  readonly aside: State[] = [];
  private waiting: (() => void)[] = [];

  /** Stores that hang answer, unless they are to hang on. */
  release(): void {
    for (const go of this.waiting.splice(0)) go();
  }

  async erase(store: string, userId: string, atMs: number): Promise<void> {
    const one = `${store} ${userId}`;
    while (this.hanging.has(store) || this.hanging.has(one)) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    if (this.refusing.has(one)) throw new TesseraError('STORE_CORRUPT', 'it cannot be read');
    if ((this.users.get(one) ?? Number.POSITIVE_INFINITY) <= atMs) this.users.delete(one);
  }
}

/** Faults of a node's way to the entry store. */
export class StoreFaults {
  isAway = false;
  isHung = false;
  /** Why no snapshot is taken from this node; '': they are. */
  snapshots: '' | 'full' | 'hung' = '';
  private waiting: (() => void)[] = [];

  isHeld(name: string): boolean {
    return this.isHung || (this.snapshots === 'hung' && name.startsWith('files/'));
  }

  isFull(name: string): boolean {
    return this.snapshots === 'full' && name.startsWith('files/');
  }

  takeSnapshots(): void {
    this.snapshots = '';
    this.release();
  }

  wait(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  release(): void {
    for (const go of this.waiting.splice(0)) go();
  }
}

/** The entry store as one process reaches it. */
export class WorldStore implements EntryStore {
  readonly place = 'store';

  constructor(
    private readonly contents: Map<string, Uint8Array>,
    private readonly faults: StoreFaults,
    private readonly gate: Gate,
  ) {}

  async put(name: string, content: Uint8Array): Promise<void> {
    await this.ask(name);
    if (this.faults.isFull(name)) throw new TesseraError('STORE_FULL', `${this.place}: it is full`);
    if (!this.contents.has(name)) this.contents.set(name, content);
  }

  putFile(name: string): Promise<void> {
    return Promise.reject(new Error(`expected no file, got ${name}`));
  }

  async get(name: string): Promise<Uint8Array> {
    await this.ask('');
    const content = this.contents.get(name);
    if (content !== undefined) return content;
    throw new TesseraError('STORE_CORRUPT', `${this.place}: expected ${name}, got nothing`);
  }

  getFile(name: string): Promise<void> {
    return this.putFile(name);
  }

  async list(prefix: string): Promise<readonly string[]> {
    await this.ask('');
    return [...this.contents.keys()].filter((name) => name.startsWith(prefix));
  }

  async remove(name: string): Promise<void> {
    await this.ask('');
    this.contents.delete(name);
  }

  private async ask(put: string): Promise<void> {
    await this.gate();
    while (this.faults.isHeld(put)) await this.faults.wait();
    await this.gate();
    if (this.faults.isAway)
      throw new TesseraError('STORE_UNAVAILABLE', `${this.place}: it is away`);
  }
}

/** Files of the state, each step of which may be the last one of its process. */
export class WorldFiles implements StateFiles {
  private copied: State = { words: [], mark: '' };

  constructor(
    private readonly disk: WorldDisk,
    private readonly gate: Gate,
    /** Told that the state of a snapshot was taken. */
    private readonly onPlaced: () => void,
  ) {}

  placeOf(note: NoteName): string {
    return note;
  }

  async read(note: NoteName): Promise<Uint8Array | undefined> {
    await this.gate();
    const text = this.disk.notes.get(note);
    return text === undefined ? undefined : Buffer.from(text);
  }

  async write(note: NoteName, content: unknown): Promise<void> {
    await this.gate();
    this.disk.notes.set(note, JSON.stringify(content));
  }

  async wipe(note: NoteName): Promise<void> {
    await this.gate();
    this.disk.notes.delete(note);
  }

  async copy(): Promise<void> {
    this.copied = { words: [...this.disk.words], mark: this.disk.mark };
  }

  async upload(store: EntryStore, log: string): Promise<Manifest['files']> {
    const bytes = Buffer.from(JSON.stringify(this.copied));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await store.put(fileName(log, sha256), bytes);
    return [{ store: 'words', path: 'state.json', bytes: bytes.length, sha256 }];
  }

  async dropCopy(): Promise<void> {
    await this.gate();
  }

  async fetch(store: EntryStore, { log, files }: Manifest): Promise<void> {
    await this.fetchNothing();
    for (const { sha256 } of files) {
      const bytes = await store.get(fileName(log, sha256));
      this.disk.fetched = JSON.parse(Buffer.from(bytes).toString()) as State;
    }
  }

  async fetchNothing(): Promise<void> {
    await this.gate();
    this.disk.fetched = { words: [], mark: '' };
  }

  async place({ aside, offset }: Placing): Promise<string[]> {
    await this.gate();
    const { disk } = this;
    const { words, mark, fetched } = disk;
    if (fetched === undefined) return [];
    const isOld = words.length > 0 || mark !== '';
    if (isOld && aside !== '') disk.aside.push({ words: [...words], mark });
    // They lie beside the state, and are moved with it.
    for (const note of ['standing', 'erase'] as const) disk.notes.delete(note);
    Object.assign(disk, { words: [...fetched.words], mark: fetched.mark, fetched: undefined });
    if (offset > 0) this.onPlaced();
    return isOld && aside !== '' ? ['aside'] : [];
  }
}
