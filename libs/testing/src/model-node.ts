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
  Publication,
  REFUSE,
  ReplicatedState,
  SNAPSHOT,
  type StatePart,
  Submissions,
  startOf,
} from '@tessera/node';
import { MemoryEntryStore, MemoryLog, type MemoryLogState } from './memory-log.js';

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
  readonly pendingFolder = mkdtempSync(join(tmpdir(), 'model-node-'));
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
  readonly behindEntries?: number;
  readonly behindMs?: number;
}

/** One process of a node over a log. */
export class ModelNode {
  readonly log: MemoryLog;
  readonly disk: ModelDisk;
  readonly store: MemoryEntryStore;
  readonly life = new Life();
  readonly history: History;
  readonly erasures: NodeErasures;
  readonly publication: Publication;
  readonly follower: Follower;
  readonly submissions: Submissions;

  private constructor(state: MemoryLogState, options: ModelOptions, pending: PendingErasures) {
    const { node = 'a', leaseMs = 60_000, behindEntries = 1000, behindMs = 0 } = options;
    const log = new MemoryLog(state, leaseMs);
    const { disk = new ModelDisk(), store = new MemoryEntryStore() } = options;
    const note = async (mark: string) => {
      disk.mark = mark;
    };
    const keeper = { mark: () => disk.mark, note };
    const nodeLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
    this.log = log;
    this.disk = disk;
    this.store = store;
    this.erasures = new NodeErasures(pending, eventualOf(disk), nodeLog as never);
    const parts = [wordsPart(disk), others, this.erasures.part];
    const replicated = new ReplicatedState(keeper, parts);
    this.history = new History(positionOf(disk.mark) ?? startOf(state.identity), log.place);
    const { life, history } = this;
    this.publication = new Publication({
      log,
      node,
      state: replicated,
      history,
      life,
      leaseMs,
      erasedUpTo: (offset) => this.erasures.upTo(offset),
      onBounds: (bounds) => this.follower.noteBounds(bounds),
    });
    const own = { log, store, history, life, publication: this.publication };
    this.follower = new Follower({
      ...own,
      state: replicated,
      behindEntries,
      behindMs,
      nodeLog: nodeLog as never,
    });
    this.submissions = new Submissions({ ...own, node, follower: this.follower, leaseMs });
    this.erasures.onDone = () => void this.publication.noteErased().catch(() => undefined);
  }

  /** A process over a disk, which follows nothing yet. */
  static async opened(state: MemoryLogState, options: ModelOptions = {}): Promise<ModelNode> {
    const { disk = new ModelDisk() } = options;
    state.identity ||= 'log-1';
    const pending = await PendingErasures.open(disk.pendingFolder);
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

  async erase(userId: string, signal = AbortSignal.timeout(60_000)) {
    const body = { userId, withBehaviours: true, withRecords: true };
    const how = { signal, waitFor: 'applied-here' } as const;
    const { offset } = await this.submissions.submit({ kind: 'erase', body }, how);
    const outcome = await this.erasures.outcome(offset, signal);
    await this.submissions.everywhere(offset, signal, true);
    return outcome;
  }

  async close(): Promise<void> {
    await this.erasures.close();
    await this.follower.close();
    await this.publication.close();
    await this.log.close();
  }
}
