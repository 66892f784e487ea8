/** A node whose state is a list of words, for tests of what follows a log. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { positionOf } from '@tessera/contracts';
import { PendingErasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type { Act } from '@tessera/log';
import {
  BEGINS,
  type EventualPart,
  type EventualParts,
  Follower,
  History,
  Life,
  NodeErasures,
  type NodeErasuresParts,
  Publication,
  REFUSE,
  Reached,
  ReplicatedState,
  SNAPSHOT,
  type StatePart,
  Submissions,
  startOf,
  WatchedLog,
  Work,
} from '@tessera/node';
import { Limit } from '@tessera/turns';
import { MemoryEntryStore, MemoryLog, type MemoryLogState } from './memory-log.js';
import { MemoryPending } from './memory-pending.js';
import { type NodeClock, SimulatedClock } from './simulated-clock.js';

/** State that outlives a process: the words, and the mark kept with them. */
export class ModelDisk {
  words: string[] = [];
  recalled: string[] = [];
  mark = '';
  /** An entry fails with it while it is set. */
  failing: TesseraError | undefined;
  /** Users whose erasure each store has done, in order. */
  erased: Record<string, string[]> = { behaviours: [], records: [], pool: [] };
  /** Stores that are away. */
  readonly away = new Set<string>();
  /** Stores that do not answer, or `STORE USER`: one user of theirs. */
  readonly hanging = new Set<string>();
  /** `STORE USER`: refused for good. */
  readonly refusing = new Set<string>();
  /** Stores that hang answer, unless they are to hang on. */
  release: () => void = () => undefined;
  /** For nodes of a simulated clock. */
  readonly pending = new MemoryPending();
  private folder = '';

  get pendingFolder(): string {
    this.folder ||= mkdtempSync(join(tmpdir(), 'model-node-'));
    return this.folder;
  }
}

function wordsPart(disk: ModelDisk): StatePart {
  const wordOf = ({ body }: Act) => (body as { readonly word: string }).word;
  return {
    name: 'words',
    kinds: ['add'],
    recall: (act) => disk.recalled.push(wordOf(act)),
    apply: async (act, _, mark) => {
      const word = wordOf(act);
      if (disk.failing !== undefined) throw disk.failing;
      if (word === 'bad') throw new TesseraError('REQUEST_INVALID', 'word: expected another');
      disk.words.push(word);
      disk.mark = mark;
      return { value: disk.words.length, isMarked: true };
    },
    digest: async () => disk.words,
  };
}

/** Entries about the log itself. */
const others: StatePart = {
  name: 'others',
  kinds: [BEGINS, SNAPSHOT, REFUSE],
  apply: async () => ({ value: undefined, isMarked: false }),
  digest: async () => '',
};

function eventualOf(disk: ModelDisk): EventualParts {
  const part = (name: string): EventualPart => ({
    name,
    erase: async ({ userId }) => {
      const isHanging = () => disk.hanging.has(name) || disk.hanging.has(`${name} ${userId}`);
      while (isHanging()) {
        await new Promise<void>((resolve) => {
          const { release } = disk;
          disk.release = () => {
            release();
            resolve();
          };
        });
      }
      if (disk.refusing.has(`${name} ${userId}`)) {
        throw new TesseraError('STORE_CORRUPT', 'it cannot be read');
      }
      if (disk.away.has(name)) throw new TesseraError('STORE_UNAVAILABLE', 'it is away');
      disk.erased[name]?.push(userId);
      return { known: true, recalls: 1 };
    },
  });
  return { behaviours: part('behaviours'), records: part('records'), pool: part('pool') };
}

export interface ModelOptions {
  readonly node?: string;
  readonly disk?: ModelDisk;
  readonly store?: MemoryEntryStore;
  readonly leaseMs?: number;
  /** Left out: that of the log. */
  readonly clock?: NodeClock;
  /** Handle of the log; left out: one that is always there. */
  readonly log?: MemoryLog;
}

/** One process of a node over a log. */
export class ModelNode {
  readonly log: MemoryLog;
  readonly watched: WatchedLog;
  readonly disk: ModelDisk;
  readonly store: MemoryEntryStore;
  readonly life = new Life();
  readonly work: Work;
  readonly history: History;
  readonly erasures: NodeErasures;
  readonly publication: Publication;
  readonly follower: Follower;
  readonly submissions: Submissions;

  private constructor(
    state: MemoryLogState,
    options: ModelOptions,
    pending: NodeErasuresParts['pending'],
  ) {
    const { node = 'a', leaseMs = 60_000, clock = state.clock } = options;
    const gate = () => options.clock?.gate() ?? Promise.resolve();
    const { log = new MemoryLog(state, leaseMs, gate) } = options;
    const { disk = new ModelDisk(), store = new MemoryEntryStore() } = options;
    const note = async (mark: string) => {
      disk.mark = mark;
    };
    const keeper = { mark: () => disk.mark, note };
    const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const nodeLog = silent as never;
    this.log = log;
    this.disk = disk;
    this.store = store;
    this.work = new Work(clock, nodeLog);
    const { work } = this;
    this.erasures = new NodeErasures({ pending, stores: eventualOf(disk), work });
    const parts = [wordsPart(disk), others, this.erasures.part];
    const replicated = new ReplicatedState(keeper, parts);
    this.history = new History(positionOf(disk.mark) ?? startOf(state.identity), log.place);
    const reached = new Reached(store, 'model');
    this.watched = new WatchedLog(log, reached);
    const { life, history, watched } = this;
    watched.own = history;
    this.publication = new Publication({
      log: watched,
      node,
      state: replicated,
      history,
      life,
      work,
      leaseMs,
      erased: (offset) => this.erasures.done(offset),
      onEnd: (end) => this.follower.noteEnd(end),
      onFault: (fault) => this.follower.fail(fault),
    });
    const { publication } = this;
    const own = { log: watched, reached, store, history, life, work, publication };
    this.follower = new Follower({ ...own, state: replicated, nodeLog });
    this.submissions = new Submissions({ ...own, node, follower: this.follower, leaseMs });
    this.erasures.onDone = () => publication.tell();
  }

  /** A process over a disk, which follows nothing yet. */
  static async opened(state: MemoryLogState, options: ModelOptions = {}): Promise<ModelNode> {
    const { disk = new ModelDisk() } = options;
    state.identity ||= 'log-1';
    const isSimulated = state.clock instanceof SimulatedClock;
    const pending = isSimulated ? disk.pending : await PendingErasures.open(disk.pendingFolder);
    return new ModelNode(state, { ...options, disk }, pending);
  }

  /** Another process over the same disk. */
  static async serving(state: MemoryLogState, options: ModelOptions = {}): Promise<ModelNode> {
    const node = await ModelNode.opened(state, options);
    await node.catchUp();
    await node.serve();
    return node;
  }

  async catchUp(): Promise<void> {
    this.life.to('catching up');
    this.erasures.start();
    await this.follower.catchUp();
  }

  /** @throws TesseraError the fault that it has */
  async serve(): Promise<void> {
    this.life.checkFollowing();
    await this.publication.open();
    this.life.to('serving');
  }

  async erase(userId: string, given?: AbortSignal) {
    const body = { userId, withBehaviours: true, withRecords: true };
    const limit = new Limit(this.work.clock, ERASURE_MS, given);
    const { signal } = limit;
    try {
      const how = { signal, waitFor: 'applied-here' } as const;
      const { offset } = await this.submissions.submit({ kind: 'erase', body }, how);
      const outcome = await this.erasures.outcome(offset, signal);
      await this.submissions.everywhere(offset, signal, true);
      return outcome;
    } finally {
      limit.end();
    }
  }

  async close(): Promise<void> {
    await this.erasures.close();
    await this.follower.close();
    await this.publication.close();
    await this.work.close();
    await this.log.close();
  }
}

const ERASURE_MS = 60_000;
