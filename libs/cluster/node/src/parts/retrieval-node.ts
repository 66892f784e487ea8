import { join } from 'node:path';
import type { AdapterAct } from '@tessera/adapter';
import { type AppliedImport, parseCatalogueSpecs } from '@tessera/catalogue';
import type { Config } from '@tessera/config';
import type { Submission } from '@tessera/contracts';
import type { PendingErasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type { Readiness } from '@tessera/lifecycle';
import type { RecallRuntime } from '@tessera/recall';
import type { Log } from '@tessera/telemetry';
import { MILLISECONDS_PER_DAY } from '@tessera/units';
import type { Erasure } from '../domain/erasure.js';
import type { Erased } from '../erasures.js';
import { type ClusterLogWord, ClusterNode, type OpenedLog, type WholeContent } from '../node.js';
import { BeginningPart } from './beginning-part.js';
import { eventualParts } from './eventual-parts.js';
import { stateFiles } from './state-folders.js';
import {
  adapterPart,
  cataloguePart,
  KINDS,
  poolPart,
  sharedAdapterFiles,
  shareVersion,
  weightsPart,
} from './state-parts.js';

export interface RetrievalNodeParts {
  readonly config: Config;
  readonly opened: OpenedLog;
  readonly pending: PendingErasures;
  /** Undefined: no recall is recorded. */
  readonly eraseRecalls: ((userId: string) => Promise<number>) | undefined;
  readonly log: Log;
}

/**
 * A node that answers recalls: catalogues, adapters and weights follow the log; behaviours, the
 * pool and recorded recalls take its erasures.
 */
export class RetrievalNode {
  private constructor(
    private readonly parts: RetrievalNodeParts,
    private readonly runtime: RecallRuntime,
    private readonly node: ClusterNode,
  ) {}

  /** Loads the state of this node and brings it to where the log is. Rejects as both do. */
  static async join(
    parts: RetrievalNodeParts,
    load: () => Promise<RecallRuntime>,
  ): Promise<{ readonly runtime: RecallRuntime; readonly clusterNode: RetrievalNode }> {
    const { config, opened, pending, log: nodeLog } = parts;
    if (config.catalogue.changesPath === '') {
      const message = 'catalogue.changesPath: expected a folder beside cluster.logStore, got none';
      throw new TesseraError('CONFIG_INVALID', message, { field: 'catalogue.changesPath' });
    }
    const { node, cluster } = config;
    const options = {
      ...opened,
      node: node.name,
      cluster: cluster.name,
      pending,
      nodeLog,
      staleMs: cluster.staleMs,
    };
    const { runtime, clusterNode } = await ClusterNode.join(
      options,
      stateFiles(config),
      load,
      (loaded, identity) => contentOf(parts, loaded, identity),
    );
    runtime.facts.kvPool.noteErasures(clusterNode.erasures.upTo(clusterNode.follower.offset));
    return { runtime, clusterNode: new RetrievalNode(parts, runtime, clusterNode) };
  }

  /** Turns changes into entries of the log, and makes other nodes wait for this one. */
  async serve(readiness: Readiness): Promise<void> {
    const { operations, serving } = this.runtime;
    for (const name of catalogueNames(this.parts.config)) {
      operations.changesOf(name).orderBy((changes, how) => this.change(name, changes, how));
    }
    operations.adapters?.orderBy((act, how) => this.adapt(act, how));
    operations.weights.orderBy(async (body, how) => {
      const { value } = await this.node.submit({ kind: KINDS.WEIGHTS, body }, how);
      return value as Awaited<ReturnType<typeof operations.weights.perform>>;
    });
    serving.erasures.heardFrom(
      () => this.node.isCurrent,
      (userId) => this.node.erasures.isPending(userId),
    );
    await this.node.serve(readiness);
  }

  erase(erasure: Erasure, signal?: AbortSignal): Promise<Erased> {
    return this.node.erase(erasure, signal);
  }

  async dropVersion(version: string): Promise<boolean> {
    const act = { kind: KINDS.DROP_VERSION, body: { version } };
    return (await this.node.submit(act)).value === true;
  }

  get said(): ClusterLogWord {
    return this.node.said;
  }

  get progress() {
    return this.node.progress;
  }

  close(): Promise<void> {
    return this.node.close();
  }

  private async change(catalogue: string, changes: unknown, how: Submission) {
    const act = { kind: KINDS.CHANGES, body: { catalogue, changes } };
    const { offset, value, isRepeat } = await this.node.submit(act, how);
    const applied = (value as AppliedImport | undefined) ?? NOTHING_KNOWN;
    return { ...applied, alreadyApplied: applied.alreadyApplied || isRepeat, offset };
  }

  private async adapt(act: AdapterAct, how: Submission): Promise<unknown> {
    const { adapters } = this.runtime.operations;
    if (act.act === 'receive' && adapters !== undefined) {
      const folder = adapters.folderOf(act.version.digest);
      await shareVersion(this.parts.opened.store, folder, act.version);
    }
    return (await this.node.submit({ kind: KINDS.ADAPTERS, body: act }, how)).value;
  }
}

/** Outcome of an act that nobody waited for, or nobody remembers. */
const NOTHING_KNOWN: AppliedImport = {
  sequence: 0,
  changeCount: 0,
  matched: new Uint32Array(),
  paced: new Uint32Array(),
  placed: { offsets: Uint32Array.of(0), codes: new Uint32Array() },
  unvalued: [],
  alreadyApplied: false,
};

function catalogueNames({ catalogue }: Config): readonly string[] {
  return ['', ...parseCatalogueSpecs(catalogue.more).map(({ name }) => name)];
}

/** The parts of the node: ordered ones, and eventual ones. */
function contentOf(
  { config, opened, eraseRecalls }: RetrievalNodeParts,
  runtime: RecallRuntime,
  identity: string,
): WholeContent {
  const { operations, facts, serving } = runtime;
  const names = catalogueNames(config);
  const first = operations.changesOf('');
  const beginning = new BeginningPart(operations, names);
  const scratch = join(config.catalogue.changesPath, 'fetched');
  return {
    keeper: { mark: () => first.state().mark, note: (mark) => first.note(mark) },
    ordered: [
      cataloguePart(names, (name) => operations.changesOf(name)),
      weightsPart(operations.weights),
      poolPart((version) => facts.kvPool.dropVersion(version)),
      adapterPart(operations.adapters, opened.store, scratch),
      beginning.part,
    ],
    eventual: eventualParts({
      log: identity,
      behaviours: operations.behaviourLog,
      eraseRecalls,
      forget: (userId, offset) => serving.forgetUser(userId, config.recall.deadlineMsMax, offset),
    }),
    beginning,
    snapshots: snapshotsOf(config, runtime, names),
  };
}

function snapshotsOf(
  { cluster }: Config,
  { operations }: RecallRuntime,
  names: readonly string[],
): WholeContent['snapshots'] {
  const all = names.map((name) => operations.changesOf(name));
  return {
    compact: async () => {
      for (const changes of all) if (changes.state().sequence > 0) await changes.compact();
    },
    settle: async () => {
      for (const changes of all) await changes.settled();
      await operations.adapters?.settled();
    },
    everyEntries: cluster.logSnapshotEntries,
    keepMs: cluster.logKeepDays * MILLISECONDS_PER_DAY,
    sharedFiles: sharedAdapterFiles(operations.adapters),
  };
}
