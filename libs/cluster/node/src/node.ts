import { randomUUID } from 'node:crypto';
import { markOf, type Position, positionOf, type Submission } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import type { ConditionReading, Readiness } from '@tessera/lifecycle';
import { type Act, type ClusterLog, type EntryStore, LEASE_MS, NO_OFFSET } from '@tessera/log';
import type { Log } from '@tessera/telemetry';
import { type Clock, Limit } from '@tessera/turns';
import { ERASE, ERASURE_MS, type Erasure } from './domain/erasure.js';
import { History } from './domain/history.js';
import type { NodeState } from './domain/life.js';
import type { ErasedUser } from './domain/manifest.js';
import { startOf } from './domain/position.js';
import { type PositionKeeper, ReplicatedState, type StatePart } from './domain/replicated-state.js';
import type { StateFiles } from './domain/state-files.js';
import {
  type Erased,
  type EventualParts,
  NodeErasures,
  type NodeErasuresParts,
} from './erasures.js';
import { Follower } from './follower.js';
import { type Means, meansOf } from './means.js';
import type { BeginningPart } from './parts/beginning-part.js';
import { Publication } from './publication.js';
import { type SnapshotParts, Snapshots } from './snapshots.js';
import { BEGINS, newestSnapshot } from './snapshots-there.js';
import { Standing, untilBegun, untilThere, type Wanted, wantedBehind } from './standing.js';
import { Submissions, type Submitted } from './submissions.js';
import type { Running } from './work.js';

/** The log of a cluster, and the store of what is too large for it. */
export interface OpenedLog {
  readonly log: ClusterLog;
  readonly store: EntryStore;
}

export interface NodeOptions extends OpenedLog {
  /** Name of the process among the nodes. */
  readonly node: string;
  /** Name of the cluster. */
  readonly cluster: string;
  /** Erasures that were read from the log and are to be done. */
  readonly pending: NodeErasuresParts['pending'];
  readonly nodeLog: Log;
  /** Milliseconds without the log after which the node is stale. */
  readonly staleMs: number;
  /** Left out: that of the process. */
  readonly clock?: Clock;
  /** Newest entries whose keys are known, alike on all nodes. */
  readonly keysKept?: number;
}

/** The parts of a node, and how entries change them. */
export interface NodeContent {
  readonly keeper: PositionKeeper;
  /** Entries are applied or refused, alike on every node, in the order of the log. */
  readonly ordered: readonly StatePart[];
  /** Stores that keep something of users: they take an erasure when they can. */
  readonly eventual: EventualParts;
}

/** A node with the whole state: what it begins with, and how snapshots of it are made. */
export interface WholeContent extends NodeContent {
  readonly beginning: BeginningPart;
  readonly snapshots: Pick<
    SnapshotParts,
    'compact' | 'settle' | 'everyEntries' | 'keepMs' | 'sharedFiles'
  >;
}

/** How far a node is in the log, as gateways are told. */
export interface ClusterLogWord {
  readonly identity: string;
  readonly offset: number;
  /** Digest of the state at the offset. */
  readonly digest: string;
  /** Why the node takes no requests; '': it does. */
  readonly fault: string;
  /** It takes nothing from the log now, and serves on with what it has. */
  readonly isStopped: boolean;
  /** Milliseconds since its state was known to be the newest. */
  readonly ageMs: number;
  /** Longer than the bound of the configuration. */
  readonly isStale: boolean;
}

/** Times that a node begins anew: with the newest snapshot, of a log that goes on meanwhile. */
const ATTEMPTS = 3;
const REACHED_EVERY_MS = 1000;
/** Between two looks at how far others have been, also those who are away. */
const HEARD_EVERY_MS = 5000;

/**
 * A node of a cluster: its state follows the log, and all changes of it go through the log. Owner
 * of all that follows it; closed by the drain.
 */
export class ClusterNode {
  private readonly tasks: Running[] = [];
  private snapshots: Snapshots | undefined;

  private constructor(
    private readonly options: NodeOptions,
    private readonly means: Means,
    readonly follower: Follower,
    private readonly publication: Publication,
    private readonly submissions: Submissions,
    readonly erasures: NodeErasures,
  ) {}

  /**
   * Brings a node with the whole state to where the log is. A state that entries cannot go on from
   * is put aside, and that of a snapshot loaded in its place. Rejects with LOG_DIFFERENT, and as
   * loading does.
   */
  static async join<Runtime extends { close(): Promise<void> }>(
    options: NodeOptions,
    files: StateFiles,
    load: () => Promise<Runtime>,
    contentOf: (runtime: Runtime, identity: string) => WholeContent,
  ): Promise<{ readonly runtime: Runtime; readonly clusterNode: ClusterNode }> {
    let wanted: Wanted = { isAnew: false, offset: NO_OFFSET };
    for (let attempt = 1; ; attempt += 1) {
      const means = meansOf(options);
      const standing = await Standing.take({ ...options, ...means, files }, wanted);
      const runtime = await load();
      const content = contentOf(runtime, standing.identity);
      try {
        const parts = { options, files, means, standing, content };
        return { runtime, clusterNode: await ClusterNode.joinWhole(parts) };
      } catch (thrown) {
        const applied = positionOf(content.keeper.mark())?.offset ?? NO_OFFSET;
        await runtime.close();
        const { code } = TesseraError.from(thrown);
        const { hasFetched } = standing;
        const next = wantedBehind(code, { wanted, hasFetched, applied });
        if (next === undefined || attempt === ATTEMPTS) throw thrown;
        wanted = next;
        options.nodeLog.warn({ err: thrown }, 'the state of this node is begun anew');
      }
    }
  }

  /** Brings a process that keeps something of users, and nothing else, to where the log is. */
  static async joinPart(
    options: NodeOptions,
    contentOf: (identity: string) => NodeContent,
  ): Promise<ClusterNode> {
    const { store, nodeLog, pending } = options;
    const means = meansOf(options);
    const { log } = means;
    const identity = await untilBegun(means);
    const content = contentOf(identity);
    const own = positionOf(content.keeper.mark());
    const followed = own?.log === identity ? own : startOf(identity);
    const bounds = await untilThere(means, () => log.bounds());
    const isHole = bounds.first > followed.offset + 1;
    const snapshot = isHole
      ? await untilThere(means, async () =>
          newestSnapshot({ log, store, nodeLog }, await log.bounds()),
        )
      : undefined;
    for (const user of snapshot?.erased ?? []) {
      if (user.offset > followed.offset) {
        await pending.put(Object.assign({ withPool: true }, user));
      }
    }
    const { offset, chain } = snapshot ?? followed;
    const position = snapshot === undefined ? followed : { ...startOf(identity), offset, chain };
    const node = ClusterNode.of({ options, means, content }, position, 'some', []);
    await node.catchUp();
    return node;
  }

  private static async joinWhole(parts: {
    readonly options: NodeOptions;
    readonly files: StateFiles;
    readonly means: Means;
    readonly standing: Standing;
    readonly content: WholeContent;
  }): Promise<ClusterNode> {
    const { options, means, standing, content, files } = parts;
    const { beginning, keeper } = content;
    const own = positionOf(keeper.mark());
    // The founder of the log marks the state: copies of it are known by that.
    const founder = standing.isFounder && !beginning.isSeedAlone() ? randomUUID() : '';
    const isFollowed = own?.log === standing.identity;
    const position = isFollowed ? own : { ...startOf(standing.identity), entry: founder };
    if (founder !== '') await keeper.note(markOf(position));
    beginning.start = position;
    const erased = await standing.erasedBefore();
    const node = ClusterNode.of(parts, position, 'all', erased, () => standing.haveErased());
    const { follower, submissions, publication } = node;
    const { store, node: name, nodeLog } = options;
    const { log, work } = means;
    const snapshots = new Snapshots({
      ...content.snapshots,
      log,
      work,
      onAble: (canSnapshot) => {
        publication.canSnapshot = canSnapshot;
      },
      store,
      node: name,
      files,
      follower,
      submissions,
      leaseMs: LEASE_MS,
      nodeLog,
      isCurrent: () => node.isCurrent,
      newestOffset: () => beginning.newestSnapshot,
    });
    node.snapshots = snapshots;
    means.life.onFault(({ code }) => {
      if (code === 'LOG_DIFFERENT') return;
      standing.giveUp().catch((thrown: unknown) => {
        options.nodeLog.error({ err: thrown }, 'cannot note that the state is given up');
      });
    });
    if (standing.isFounder && position.offset === NO_OFFSET) {
      await node.begin(beginning, snapshots, position.entry);
    }
    await node.catchUp();
    return node;
  }

  private static of(
    parts: {
      readonly options: NodeOptions;
      readonly means: Means;
      readonly content: NodeContent;
    },
    position: Position,
    scope: 'all' | 'some',
    first: readonly ErasedUser[],
    firstDone?: () => Promise<void>,
  ): ClusterNode {
    const { options, means, content } = parts;
    const { store, node, nodeLog, pending } = options;
    const { log, life, work } = means;
    const stores = content.eventual;
    const users = { pending, stores, work, first };
    const erasures = new NodeErasures(firstDone === undefined ? users : { ...users, firstDone });
    const state = new ReplicatedState(content.keeper, [...content.ordered, erasures.part], scope);
    const history = new History(position, log.place, options.keysKept);
    log.own = history;
    const publication: Publication = new Publication({
      log,
      node,
      state,
      history,
      life,
      work,
      leaseMs: LEASE_MS,
      erased: (offset) => erasures.done(offset),
      onEnd: (end) => follower.noteEnd(end),
      onFault: (fault) => follower.fail(fault),
    });
    const own = { ...means, store, history, publication };
    const follower = new Follower({ ...own, state, nodeLog });
    const submissions = new Submissions({ ...own, node, follower, leaseMs: LEASE_MS });
    erasures.onDone = () => publication.tell();
    return new ClusterNode(options, means, follower, publication, submissions, erasures);
  }

  get state(): NodeState {
    return this.means.life.state;
  }

  /** True if data of users may be used: no erasure has been acknowledged without this node. */
  get isCurrent(): boolean {
    const { means, publication, follower } = this;
    return means.life.state === 'serving' && publication.lease.holds(follower.offset);
  }

  /** Makes other nodes wait for this one. Rejects with CONFIG_INVALID for a taken name. */
  async serve(readiness: Readiness): Promise<void> {
    const { life, reached, work, log } = this.means;
    life.checkFollowing();
    const add = (name: string, isNeeded: boolean, read: () => ConditionReading) =>
      readiness.conditions.add({ name, kind: 'dependency', isNeeded, read });
    add('log', true, () => this.follower.condition());
    add('log-store', false, () =>
      reached.isAway
        ? { state: 'degraded', reason: `${this.options.store.place}: it does not answer` }
        : { state: 'ok', reason: '' },
    );
    this.erasures.showIn(readiness);
    await this.publication.open();
    life.to('serving');
    this.snapshots?.start();
    this.tasks.push(
      work.begin({
        name: 'the note of how far this node is',
        everyMs: REACHED_EVERY_MS,
        limitMs: LEASE_MS,
        run: () => this.noteReached(),
      }),
      work.begin({
        name: 'the look at how far others have been',
        everyMs: HEARD_EVERY_MS,
        limitMs: LEASE_MS,
        run: async () => {
          await log.hear();
          return life.fault !== undefined;
        },
      }),
    );
  }

  /** Rejects as the act does where it is applied, and as Submissions.submit(). */
  submit(act: Act, how?: Submission): Promise<Submitted> {
    return this.submissions.submit(act, how);
  }

  /** Acknowledged when every node that serves has nothing of the user any more. */
  async erase(erasure: Erasure, given?: AbortSignal): Promise<Erased> {
    const limit = new Limit(this.means.work.clock, ERASURE_MS, given);
    const { signal } = limit;
    try {
      const act = { kind: ERASE, body: erasure };
      const { offset } = await this.submit(act, { signal, waitFor: 'applied-here' });
      const outcome = await this.erasures.outcome(offset, signal);
      await this.submissions.everywhere(offset, signal, true);
      return outcome;
    } finally {
      limit.end();
    }
  }

  /** For `/health`, and so for gateways. */
  get said(): ClusterLogWord {
    const { position } = this.follower.parts.history;
    const ageMs = Math.round(this.publication.lease.ageMs(position.offset));
    const { state, reason } = this.follower.condition();
    return {
      identity: position.log,
      offset: position.offset,
      digest: this.publication.stateDigest,
      fault: state === 'down' ? reason : '',
      isStopped: this.state === 'stopped' || this.follower.held !== undefined,
      ageMs,
      isStale: ageMs > this.options.staleMs,
    };
  }

  get progress() {
    return { offset: this.follower.offset, end: this.follower.newest };
  }

  async close(): Promise<void> {
    const { life, work } = this.means;
    await this.end();
    if (life.state === 'serving') await this.noteReached().catch(() => undefined);
    life.to('closed');
    await work.close();
    await this.options.log.close();
  }

  private async catchUp(): Promise<void> {
    this.means.life.to('catching up');
    this.erasures.start();
    try {
      await this.follower.catchUp();
      // Erasures are tried before anybody asks; one that cannot be done holds nothing.
      await this.erasures.tried(ERASED_FIRST_MS);
    } catch (thrown) {
      await this.end();
      throw thrown;
    }
  }

  private async end(): Promise<void> {
    await this.snapshots?.close();
    for (const task of this.tasks) await task.end();
    await this.erasures.close();
    await this.follower.close();
    await this.publication.close();
  }

  /** The first entry: which catalogues, and the state of this node where it has one. */
  private async begin(
    beginning: BeginningPart,
    snapshots: Snapshots,
    founder: string,
  ): Promise<void> {
    const snapshot = founder === '' ? '' : (await snapshots.put()).name;
    const body = { seeds: beginning.seeds(), founder, snapshot };
    await this.submissions.append({ kind: BEGINS, body }, BEGINS);
    this.options.nodeLog.info({ snapshot }, 'cluster log begun with the state of this node');
  }

  private async noteReached(): Promise<undefined> {
    const { reached, log } = this.means;
    const { history } = this.follower.parts;
    await log.compareNoted(await reached.note(() => history.position, history.position));
  }
}

/** Milliseconds of a start for the erasures that are to be done. */
const ERASED_FIRST_MS = 5000;
