import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { AdapterAct } from '@tessera/adapter';
import { type AppliedImport, parseCatalogueSpecs } from '@tessera/catalogue';
import type { Config } from '@tessera/config';
import { markOf, type Position, positionOf, type Submission } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import type { Readiness } from '@tessera/lifecycle';
import {
  BEGINS,
  BEHIND_MAX,
  ERASE,
  type Erasure,
  Follower,
  LEASE_MS,
  NO_OFFSET,
  ReplicatedState,
  Seat,
  SNAPSHOT,
  Snapshots,
  type StatePart,
  Submissions,
  startOf,
} from '@tessera/log';
import type { RecallRuntime } from '@tessera/recall';
import type { Log } from '@tessera/telemetry';
import { MILLISECONDS_PER_DAY } from '@tessera/units';
import type { Erased, OpenedLog } from '../../../feature/src/index.js';
import { erasurePart } from './erasure-part.js';
import { stateFolders } from './state-folders.js';
import {
  adapterPart,
  cataloguePart,
  KINDS,
  poolPart,
  shareVersion,
  weightsPart,
} from './state-parts.js';

const INTERNAL_FIELD = 'cluster.log';

interface NodeParts {
  readonly config: Config;
  readonly opened: OpenedLog;
  readonly runtime: RecallRuntime;
  /** Undefined: no recall is recorded. */
  readonly eraseRecalls: ((userId: string) => Promise<number>) | undefined;
  readonly log: Log;
}

/** How far a node is in the log, as gateways are told. */
export interface ClusterLogWord {
  readonly identity: string;
  readonly offset: number;
  /** Of the state there. */
  readonly digest: string;
  /** Why the node takes no requests; '': it does. */
  readonly fault: string;
  /** It follows the log no longer, and serves on with what it has. */
  readonly isStopped: boolean;
}

/** First entry of a log: a state. */
interface Beginning {
  readonly seeds: Readonly<Record<string, string>>;
  /** Of the position of the state that it begins with; '' where that is the seeds alone. */
  readonly founder: string;
  /** Of that state; '' for none. */
  readonly snapshot: string;
}

/**
 * This node as one of a cluster: its state follows the log, and all changes of it go through the
 * log. Owner of the follower; closed by the drain.
 */
export class ClusterNode {
  private constructor(
    private readonly parts: NodeParts,
    private readonly seat: Seat,
    readonly follower: Follower,
    readonly submissions: Submissions,
    private readonly snapshots: Snapshots,
  ) {}

  /**
   * Catches up. Rejects with LOG_TRIMMED where the state has to be that of a snapshot (the seat is
   * to be taken anew then), LOG_DIFFERENT, and as the stores do.
   */
  static async open(parts: NodeParts, seat: Seat): Promise<ClusterNode> {
    const { config, opened, runtime, log: nodeLog } = parts;
    const { log, store } = opened;
    const { node } = config;
    const first = runtime.operations.changesOf('');
    const own = positionOf(first.state().mark);
    const isFollowed = own?.log === seat.identity;
    const beginning = new BeginningPart(parts);
    // The founder of the log marks the state: copies of it are known by that.
    const founder = seat.isFounder && !beginning.isSeedAlone() ? randomUUID() : '';
    const position = isFollowed ? own : { ...startOf(seat.identity), entry: founder };
    if (founder !== '') await first.note(markOf(position));
    beginning.start = position;
    const erasures = erasuresOf(parts);
    const state = new ReplicatedState(
      { mark: () => first.state().mark, note: (mark) => first.note(mark) },
      [...stateParts(parts), erasures, beginning.part],
    );
    const follower = new Follower({
      log,
      store,
      node: node.name,
      state,
      position,
      leaseMs: LEASE_MS,
      ...BEHIND_MAX,
      nodeLog,
    });
    const submissions = new Submissions({
      log,
      store,
      node: node.name,
      follower,
      leaseMs: LEASE_MS,
    });
    const snapshots = snapshotsOf(parts, follower, submissions, beginning);
    const clusterNode = new ClusterNode(parts, seat, follower, submissions, snapshots);
    for (const { offset, atMs, ...body } of await seat.erasedBefore()) {
      const mark = markOf({ ...position, offset });
      await erasures.apply({ kind: ERASE, body }, { offset, atMs }, mark);
    }
    await seat.haveErased();
    // A log that has lost its entries is not begun again: the follower refuses it.
    if (seat.isFounder && position.offset === NO_OFFSET) {
      await clusterNode.begin(beginning, snapshots, position.entry);
    }
    await follower.catchUp();
    parts.runtime.facts.kvPool.noteErasures(Math.max(0, follower.offset));
    return clusterNode;
  }

  /** From now on changes are entries, and others wait for this node. */
  async serve({ conditions }: Readiness): Promise<void> {
    const { operations, serving } = this.parts.runtime;
    for (const name of catalogueNames(this.parts.config)) {
      operations.changesOf(name).orderBy((changes, how) => this.change(name, changes, how));
    }
    operations.adapters?.orderBy((act, how) => this.adapt(act, how));
    operations.weights.orderBy(async (name, how) => {
      const { value } = await this.submissions.submit({ kind: KINDS.WEIGHTS, body: { name } }, how);
      return value as Awaited<ReturnType<typeof operations.weights.perform>>;
    });
    serving.erasures.heardFrom(() => this.follower.isCurrent);
    const read = () => this.follower.condition();
    conditions.add({ name: 'log', kind: 'dependency', isNeeded: true, read });
    this.follower.onUnfit = () => void this.seat.giveUp();
    await this.follower.serve();
    this.snapshots.start();
  }

  /** Acknowledged when every node that serves has nothing of the user any more. */
  async erase(erasure: Erasure, signal?: AbortSignal): Promise<Erased> {
    const body = erasure;
    const { value } = await this.submissions.submit({ kind: ERASE, body }, { signal });
    return (value ?? { known: false, recalls: 0 }) as Erased;
  }

  async dropVersion(version: string): Promise<boolean> {
    const act = { kind: KINDS.DROP_VERSION, body: { version } };
    return (await this.submissions.submit(act)).value === true;
  }

  /** For `/health`, and so for gateways. */
  get said(): ClusterLogWord {
    const { identity, offset, stateDigest: digest } = this.follower;
    const { state, reason } = this.follower.condition();
    const fault = state === 'down' ? reason : '';
    return { identity, offset, digest, fault, isStopped: this.follower.isStopped };
  }

  get progress() {
    return { offset: this.follower.offset, end: this.follower.newest };
  }

  async close(): Promise<void> {
    await this.snapshots.close();
    await this.follower.close();
  }

  private async change(catalogue: string, changes: unknown, how: Submission) {
    const act = { kind: KINDS.CHANGES, body: { catalogue, changes } };
    const { offset, value, isRepeat } = await this.submissions.submit(act, how);
    const applied = (value as AppliedImport | undefined) ?? NOTHING_KNOWN;
    return { ...applied, alreadyApplied: applied.alreadyApplied || isRepeat, offset };
  }

  private async adapt(act: AdapterAct, how: Submission): Promise<unknown> {
    const { adapters } = this.parts.runtime.operations;
    if (act.act === 'receive' && adapters !== undefined) {
      const folder = adapters.folderOf(act.version.digest);
      await shareVersion(this.parts.opened.store, folder, act.version);
    }
    return (await this.submissions.submit({ kind: KINDS.ADAPTERS, body: act }, how)).value;
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
    this.parts.log.info({ snapshot }, 'cluster log begun with the state of this node');
  }
}

/** Of an act whose outcome nobody waited for, or nobody remembers. */
const NOTHING_KNOWN: AppliedImport = {
  sequence: 0,
  changeCount: 0,
  matched: new Uint32Array(),
  placed: { offsets: Uint32Array.of(0), codes: new Uint32Array() },
  alreadyApplied: false,
};

function catalogueNames({ catalogue }: Config): readonly string[] {
  return ['', ...parseCatalogueSpecs(catalogue.more).map(({ name }) => name)];
}

function erasuresOf({ config, runtime, eraseRecalls }: NodeParts): StatePart {
  const { operations, serving } = runtime;
  const budgetMs = config.recall.deadlineMsMax;
  return erasurePart({ behaviours: operations.behaviourLog, serving, eraseRecalls, budgetMs });
}

function stateParts({ config, opened, runtime }: NodeParts): StatePart[] {
  const { operations, facts } = runtime;
  const parts = [
    cataloguePart(catalogueNames(config), (name) => operations.changesOf(name)),
    weightsPart(operations.weights),
    poolPart((version) => facts.kvPool.dropVersion(version)),
  ];
  const scratch = join(config.catalogue.changesPath, 'fetched');
  return [...parts, adapterPart(operations.adapters, opened.store, scratch)];
}

function snapshotsOf(
  { config, opened, runtime, log: nodeLog }: NodeParts,
  follower: Follower,
  submissions: Submissions,
  beginning: BeginningPart,
): Snapshots {
  const { cluster, node, catalogue } = config;
  const all = catalogueNames(config).map((name) => runtime.operations.changesOf(name));
  return new Snapshots({
    ...opened,
    node: node.name,
    folders: stateFolders(config),
    follower,
    submissions,
    compact: async () => {
      for (const changes of all) if (changes.state().sequence > 0) await changes.compact();
    },
    settle: async () => {
      for (const changes of all) await changes.settled();
      await runtime.operations.adapters?.settled();
    },
    scratch: `${catalogue.changesPath}.snapshot`,
    everyEntries: cluster.logSnapshotEntries,
    keepMs: cluster.logKeepDays * MILLISECONDS_PER_DAY,
    leaseMs: LEASE_MS,
    newestOffset: () => beginning.newestSnapshot,
    nodeLog,
  });
}

/** The entries that say what the log begins with, and where its snapshots are. */
class BeginningPart {
  newestSnapshot = 0;
  /** Of the state of this node when it was opened. */
  start: Position = startOf('');

  constructor(private readonly parts: NodeParts) {}

  readonly part: StatePart = {
    name: 'beginning',
    kinds: [BEGINS, SNAPSHOT],
    apply: async ({ kind, body }, { offset }) => {
      if (kind === BEGINS) this.check(body as Beginning);
      else this.newestSnapshot = (body as { readonly offset: number }).offset;
      return { value: offset, isMarked: false };
    },
    digest: async () => '',
  };

  /** Nothing has been changed here since the sources were read. */
  isSeedAlone(): boolean {
    const { operations } = this.parts.runtime;
    const names = catalogueNames(this.parts.config);
    const isSame = names.every((name) => operations.changesOf(name).state().sequence === 0);
    const versions = operations.adapters?.list('') ?? [];
    return isSame && versions.length === 0 && operations.weights.current().serving === '';
  }

  /** @throws TesseraError LOG_DIFFERENT, or LOG_TRIMMED where the state here is not the log's */
  private check({ seeds, founder, snapshot }: Beginning): void {
    const own = this.seeds();
    for (const [name, digest] of Object.entries(own)) {
      if (seeds[name] === digest) continue;
      const message =
        `catalogue '${name}': expected the sources that the log began with (${seeds[name]}), ` +
        `got others (${digest}): change items through the log, or name another cluster`;
      throw new TesseraError('LOG_DIFFERENT', message, { field: INTERNAL_FIELD });
    }
    const isThat = snapshot === '' ? this.isSeedAlone() : this.start.entry === founder;
    if (this.start.offset > 0 || isThat) return;
    throw new TesseraError('LOG_TRIMMED', 'expected the state that the log begins with, got other');
  }

  seeds(): Readonly<Record<string, string>> {
    const { config, runtime } = this.parts;
    return Object.fromEntries(
      catalogueNames(config).map((name) => [name, runtime.operations.changesOf(name).seedDigest]),
    );
  }
}
