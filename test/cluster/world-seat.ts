/** A seat of a simulated world: a disk, and the processes of a node over it. */

import { positionOf } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { Readiness } from '@tessera/lifecycle';
import { type Act, LEASE_MS } from '@tessera/log';
import { BeginningPart, ClusterNode, type EventualPart, type WholeContent } from '@tessera/node';
import {
  MemoryLog,
  type MemoryLogState,
  type NodeClock,
  type SimulatedClock,
} from '@tessera/testing';
import { StoreFaults, WorldDisk, WorldFiles, WorldStore } from './world-store.js';

/** Entries behind the newest snapshot that makes the next one due. */
export const SNAPSHOT_ENTRIES = 6;
/** Newest entries whose keys are known. */
export const KEYS_KEPT = 10;
/** Milliseconds for which users that were erased are named: longer than any world. */
const KEEP_MS = 86_400_000;
const STALE_MS = 10_000;
/** Milliseconds after which a supervisor starts a process that ended. */
const RESTART_MS = 2000;
/** Milliseconds that a process has to leave. */
const DRAIN_MS = 8000;

const SILENT = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
} as never;

/** Servers that all seats of a world share. */
export interface World {
  readonly clock: SimulatedClock;
  readonly log: MemoryLogState;
  readonly contents: Map<string, Uint8Array>;
  /** Is on the way of each append: false where its answer is lost. */
  readonly onItsWay: () => Promise<boolean>;
  readonly count: (what: string) => void;
  /** Told why a process could not start. */
  readonly onStart: (code: string) => void;
}

/** One process: it ends at its next step once it is killed. */
interface Process {
  readonly clock: NodeClock;
  readonly link: MemoryLog;
  node: ClusterNode | undefined;
  isOver: boolean;
}

export class Seat {
  readonly disk = new WorldDisk();
  readonly store = new StoreFaults();
  isHung = false;
  /** The link to the log is cut. */
  private isCut = false;
  private process: Process | undefined;
  /** A person wants it to run. */
  private isWanted = false;

  constructor(
    readonly name: string,
    private readonly world: World,
  ) {}

  /** The process that runs, once it has joined. */
  get node(): ClusterNode | undefined {
    return this.process?.node;
  }

  /** It runs, others may ask it, and what it says counts now. */
  get serving(): ClusterNode | undefined {
    return !this.isHung && this.node?.state === 'serving' ? this.node : undefined;
  }

  get position() {
    return positionOf(this.disk.mark);
  }

  start(): void {
    this.isWanted = true;
    if (this.process !== undefined) return;
    const { clock, log, onItsWay } = this.world;
    const own = clock.ofNode();
    if (this.isHung) own.hang();
    const link = new MemoryLog(log, LEASE_MS, () => own.gate());
    link.away = this.isCut;
    link.onItsWay = onItsWay;
    const process: Process = { clock: own, link, node: undefined, isOver: false };
    this.process = process;
    this.join(process).catch((thrown: unknown) => this.ended(process, thrown));
  }

  /** Ends at once, as a machine does that loses its power. */
  kill(): void {
    this.isWanted = false;
    if (this.process !== undefined) this.end(this.process);
  }

  /** Leaves in order, or is killed where that takes too long. */
  async stop(): Promise<void> {
    this.isWanted = false;
    const { process } = this;
    if (process === undefined) return;
    const left = process.node?.close() ?? Promise.resolve();
    const ended = left.catch(() => undefined);
    await Promise.race([ended, this.world.clock.pause(DRAIN_MS)]);
    this.end(process);
  }

  hang(): void {
    this.isHung = true;
    this.process?.clock.hang();
  }

  goOn(): void {
    this.isHung = false;
    if (this.process?.isOver === false) this.process.clock.goOn();
  }

  cut(isCut: boolean): void {
    this.isCut = isCut;
    if (this.process !== undefined) this.process.link.away = isCut;
  }

  private async join(process: Process): Promise<void> {
    const { contents, count } = this.world;
    const gate = () => process.clock.gate();
    const { disk } = this;
    const store = new WorldStore(contents, this.store, gate);
    const files = new WorldFiles(disk, gate, () => count('state of a snapshot'));
    const options = {
      log: process.link,
      store,
      node: this.name,
      cluster: 'model',
      pending: disk.pending,
      nodeLog: SILENT,
      staleMs: STALE_MS,
      clock: process.clock,
      keysKept: KEYS_KEPT,
    };
    // The state is of the disk: nothing else remembers it.
    const load = async () => {
      await gate();
      return { close: gate };
    };
    const { clusterNode } = await ClusterNode.join(options, files, load, () => contentOf(disk));
    await clusterNode.serve(new Readiness());
    process.node = clusterNode;
  }

  private ended(process: Process, thrown: unknown): void {
    if (process.isOver) return;
    this.world.onStart(TesseraError.from(thrown).code);
    this.end(process);
    void this.world.clock.pause(RESTART_MS).then(() => {
      if (this.isWanted) this.start();
    });
  }

  private end(process: Process): void {
    process.isOver = true;
    process.clock.hang();
    void process.link.close();
    if (this.process === process) this.process = undefined;
  }
}

function contentOf(disk: WorldDisk): WholeContent {
  const part = (name: string): EventualPart => ({
    name,
    erase: async ({ userId, atMs }) => {
      await disk.erase(name, userId, atMs);
      return { known: true, recalls: 1 };
    },
  });
  const changes = { state: () => ({ sequence: disk.words.length }), seedDigest: 'seed' };
  const weights = { current: () => ({ serving: '' }) };
  const beginning = new BeginningPart({ changesOf: () => changes, weights } as never, ['']);
  const note = async (mark: string) => {
    disk.mark = mark;
  };
  return {
    keeper: { mark: () => disk.mark, note },
    ordered: [wordsOf(disk), beginning.part],
    eventual: { behaviours: part('behaviours'), records: part('records'), pool: part('pool') },
    beginning,
    snapshots: {
      compact: async () => undefined,
      settle: async () => undefined,
      everyEntries: SNAPSHOT_ENTRIES,
      keepMs: KEEP_MS,
      sharedFiles: { folder: 'shared/', isUsed: () => false, isNamed: () => false },
    },
  };
}

function wordsOf(disk: WorldDisk): WholeContent['ordered'][number] {
  return {
    name: 'words',
    kinds: ['add'],
    apply: async ({ body }: Act, { offset }, mark) => {
      if (disk.failing !== undefined) throw disk.failing;
      const { word } = body as { readonly word: string };
      if (word === 'bad') throw new TesseraError('REQUEST_INVALID', 'word: expected another');
      disk.words.push(`${word}@${offset}`);
      disk.mark = mark;
      return { value: disk.words.length, isMarked: true };
    },
    digest: async () => disk.words,
  };
}
