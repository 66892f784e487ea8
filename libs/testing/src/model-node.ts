/** A node whose state is a list of words, for tests of what follows a log. */

import { positionOf } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import {
  type Act,
  BEGINS,
  ERASE,
  Follower,
  ReplicatedState,
  SNAPSHOT,
  type StatePart,
  Submissions,
  startOf,
} from '@tessera/log';
import { MemoryEntryStore, MemoryLog, type MemoryLogState } from './memory-log.js';

/** State that outlives a process: the words, and the mark kept with them. */
export class ModelDisk {
  words: string[] = [];
  recalled: string[] = [];
  mark = '';
  /** An entry fails with it while it is set. */
  failing: TesseraError | undefined;
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

/** Erasures, and what is said of the log itself. */
const others: StatePart = {
  name: 'others',
  kinds: [ERASE, BEGINS, SNAPSHOT],
  apply: async () => ({ value: undefined, isMarked: false }),
  digest: async () => '',
};

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
  readonly follower: Follower;
  readonly submissions: Submissions;

  constructor(state: MemoryLogState, options: ModelOptions = {}) {
    const { node = 'a', leaseMs = 60_000, behindEntries = 1000, behindMs = 0 } = options;
    state.identity ||= 'log-1';
    const log = new MemoryLog(state);
    const { disk = new ModelDisk(), store = new MemoryEntryStore() } = options;
    const note = async (mark: string) => {
      disk.mark = mark;
    };
    const keeper = { mark: () => disk.mark, note };
    const nodeLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
    this.log = log;
    this.disk = disk;
    this.store = store;
    this.follower = new Follower({
      log,
      store,
      node,
      state: new ReplicatedState(keeper, [wordsPart(disk), others]),
      position: positionOf(disk.mark) ?? startOf(state.identity),
      leaseMs,
      behindEntries,
      behindMs,
      nodeLog: nodeLog as never,
    });
    this.submissions = new Submissions({ log, store, node, follower: this.follower, leaseMs });
  }

  /** Another process over the same disk. */
  static async serving(state: MemoryLogState, options: ModelOptions = {}): Promise<ModelNode> {
    const node = new ModelNode(state, options);
    await node.follower.catchUp();
    await node.follower.serve();
    return node;
  }
}
