import type { Submission } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import type { Tokenizer } from '@tessera/prompt';
import type { AdapterSettings } from './adapter-settings.js';
import { AdaptersBeside } from './adapters-beside.js';
import type { SeenRecall } from './canary-watch.js';
import {
  type AdapterAct,
  type AdapterOrder,
  type EndingVersion,
  receivedOf,
} from './domain/adapter-act.js';
import type { AdapterChoice, AdapterLease, Arm } from './domain/adapter-choice.js';
import type { AdapterEngine } from './domain/adapter-engine.js';
import type { AdapterProbe } from './domain/adapter-probe.js';
import {
  type AdapterVersion,
  checkName,
  type ListedVersion,
  type ReceivedVersion,
} from './domain/adapter-version.js';
import type { CanaryReport, ComparisonSummary, Fault } from './domain/canary-comparison.js';
import {
  checkHolder,
  leaseEnds,
  type NameLease,
  takeLease,
  type WantedLease,
} from './domain/name-lease.js';
import type { PushParts } from './domain/push-parts.js';
import { shownWaiting } from './domain/waiting-versions.js';
import { deleteVersion, pinVersion } from './kept-versions.js';
import { type Pushed, PushIntake } from './push.js';
import { AdapterRegistry } from './registry.js';
import {
  type Activated,
  type Activation,
  type RollbackWanted,
  type RolledBack,
  Rollout,
} from './rollout.js';

/** Adapters of one engine: what callers may do with versions, and which one each request gets. */
export class Adapters implements AdapterChoice {
  /** For updates of the weights that they were made for. */
  readonly beside: AdaptersBeside;
  private readonly intake: PushIntake;
  private readonly rollout: Rollout;
  /** Undefined: acts are done as they come. */
  private order: AdapterOrder | undefined;
  /** Versions on their way from another node, by name and digest. */
  private readonly arriving = new Map<string, Promise<ReceivedVersion>>();
  /** Recalls so far. */
  private readonly recalls: Record<Arm, number> = { base: 0, active: 0, canary: 0, named: 0 };

  private constructor(
    private readonly registry: AdapterRegistry,
    probe: AdapterProbe,
    private readonly settings: AdapterSettings,
  ) {
    this.rollout = new Rollout(registry, probe, settings.rollout, (canary, fault) => {
      void this.endCanary(canary, fault);
    });
    this.beside = new AdaptersBeside(registry, this.rollout, settings.onEvent);
    this.intake = new PushIntake(registry, (adapter) => this.rollout.golden.trial(adapter));
  }

  /**
   * Rejects as AdapterRegistry.open() does, and with CONFIG_INVALID for a bad golden set.
   * @param tokenizer of the model; left out: no version that ranks is taken
   */
  static async open(
    engine: AdapterEngine,
    probe: AdapterProbe,
    settings: AdapterSettings,
    tokenizer?: Pick<Tokenizer, 'encode'>,
  ): Promise<Adapters> {
    const registry = await AdapterRegistry.open({
      ...settings.registry,
      engine,
      tokenizer,
      onLost: ({ name, digest }, error) =>
        settings.onEvent({ action: 'lost', name, digest, error, detail: error.message }),
      onWaiting: (version) => {
        const { name, digest } = version;
        const detail = shownWaiting(version).reason;
        settings.onEvent({ action: 'waits', name, digest, error: undefined, detail });
      },
    });
    const adapters = new Adapters(registry, probe, settings);
    try {
      await adapters.rollout.golden.check();
      return adapters;
    } catch (thrown) {
      await registry.close();
      throw thrown;
    }
  }

  get defaultName(): string {
    return this.registry.defaultName;
  }

  choose(wanted: string, userKey: string): AdapterLease {
    return this.registry.choose(wanted, userKey);
  }

  observe(lease: AdapterLease, seen: SeenRecall): void {
    this.recalls[lease.arm] += 1;
    this.rollout.observe(lease, seen);
  }

  /** Counts a recall for the version that ranked it; its own adapter alone counts it otherwise. */
  observeRanking(lease: AdapterLease, seen: SeenRecall): void {
    this.rollout.watch.observe(lease, seen);
  }

  /** A user of whom something was computed ahead of a recall. */
  appended(userId: string): void {
    this.rollout.appended(userId);
  }

  clicked(userId: string, itemId: string): void {
    this.rollout.watch.clicked(userId, itemId);
  }

  /** Gives the ordering of acts to a caller, which gives them to perform() in its order. */
  orderBy(order: AdapterOrder): void {
    this.order = order;
  }

  /** @param by who pushes; left out: that is not known */
  async push(parts: PushParts, by = '', how: Submission = {}): Promise<Pushed> {
    const pushed = await this.intake.push(parts, by);
    const { lease } = pushed;
    const version = receivedOf(pushed.version);
    if (this.order === undefined) await this.take(lease, version, this.registry.nowMs());
    else await this.order({ act: 'receive', version, lease }, how);
    return pushed;
  }

  private async take(
    lease: WantedLease | undefined,
    { name, digest }: ReceivedVersion,
    takenMs: number,
  ): Promise<void> {
    if (lease === undefined) return;
    const { holder, seconds } = lease;
    const taken = { name, digest, holder, seconds, takenMs };
    await this.registry.change((state) => takeLease(state, taken));
  }

  /** Pushes a version and serves it to all, without a comparison. Rejects as both calls do. */
  async serve(parts: PushParts, by = ''): Promise<AdapterVersion> {
    const { version } = await this.push(parts, by);
    const all = { share: 1, isCompared: false, isWarmed: false };
    await this.activate(version.name, version.digest, all);
    return version;
  }

  /**
   * Does what has its place in the order, here; also a second time. Rejects as the call that
   * ordered it does.
   * @param parts the files of a version that is not here yet, as a push
   * @param atMs of its place, by which leases end on all nodes alike; milliseconds since 1970
   */
  async perform(
    act: AdapterAct,
    parts: (version: ReceivedVersion) => PushParts,
    atMs: number,
  ): Promise<unknown> {
    switch (act.act) {
      case 'receive':
        await this.take(act.lease, act.version, atMs);
        // Its trial takes long, and nothing behind it has to wait for that.
        void this.arrived(act.version, parts).catch((thrown: unknown) => {
          const { name, digest } = act.version;
          const error = TesseraError.from(thrown);
          this.settings.onEvent({ action: 'lost', name, digest, error, detail: error.message });
        });
        return undefined;
      case 'activate': {
        checkHolder(this.registry.state, act.version.name, act.holder ?? '', atMs);
        const { name, digest } = await this.arrived(act.version, parts);
        return this.rollout.switchTo(name, digest, act.share);
      }
      case 'roll-back':
        checkHolder(this.registry.state, act.name, act.holder ?? '', atMs);
        return this.rollout.rollBack(act.name, act.reason, act.ends);
      case 'delete':
        return deleteVersion(this.registry, act.name, act.digest);
      case 'pin': {
        const { name, digest } = await this.arrived(act.version, parts);
        return pinVersion(this.registry, name, digest, true);
      }
      case 'unpin':
        return pinVersion(this.registry, act.name, act.digest, false);
    }
  }

  /** Resolves when a version that another node has pushed is here. Rejects as its trial does. */
  private async underway(name: string, digest: string): Promise<void> {
    const meant = [...this.arriving].filter(([key]) => key.startsWith(`${name} ${digest}`));
    await Promise.all(meant.map(([, arriving]) => arriving));
  }

  /** Resolves when a version is here and valid, which it may be already. */
  private arrived(
    version: ReceivedVersion,
    parts: (version: ReceivedVersion) => PushParts,
  ): Promise<ReceivedVersion> {
    const { name, digest, pushedBy } = version;
    const key = `${name} ${digest}`;
    const underway = this.arriving.get(key);
    if (underway !== undefined) return underway;
    const known = this.registry.list(name).find((one) => one.digest === digest);
    if (known !== undefined && known.state !== 'received') return Promise.resolve(version);
    const arriving = this.intake
      .push(parts(version), pushedBy)
      .then(() => version)
      .finally(() => this.arriving.delete(key));
    this.arriving.set(key, arriving);
    return arriving;
  }

  /** Resolves when no version that another node has pushed is being written here; never rejects. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.arriving.values());
  }

  /** Bytes that pushes took and did not give back, though none is under way. */
  heldWhileIdle(): { readonly pushBytes: number } {
    return { pushBytes: this.intake.underway > 0 ? 0 : this.registry.reservations.bytes };
  }

  async activate(
    name: string,
    digest: string,
    wanted: Activation,
    how: Submission = {},
  ): Promise<Activated> {
    const { order } = this;
    const { share, holder = '' } = wanted;
    this.checkHolder(name, holder);
    if (order === undefined) return this.rollout.activate(name, digest, wanted);
    await this.underway(name, digest);
    return this.rollout.activate(name, digest, wanted, async (version) => {
      await order({ act: 'activate', version: receivedOf(version), share, holder }, how);
    });
  }

  async rollBack(
    name: string,
    reason: string,
    { digest = '', holder = '' }: RollbackWanted = {},
    how: Submission = {},
  ): Promise<RolledBack> {
    this.checkHolder(name, holder);
    const ends = digest === '' ? this.ending(name) : this.endingOf(name, digest);
    if (this.order === undefined) {
      return this.rollout.rollBack(name, reason, digest === '' ? undefined : ends, holder);
    }
    if (digest === '') this.rollout.interrupt(name);
    const act: AdapterAct = { act: 'roll-back', name, ends, reason, holder };
    return (await this.order(act, how)) as RolledBack;
  }

  /** The version that a rollback of the name takes out of service. */
  private ending(name: string): EndingVersion {
    const canary = this.registry.canary(name);
    const { digest = '' } = canary ?? this.registry.active(name) ?? {};
    return { digest, as: canary === undefined ? 'active' : 'canary' };
  }

  private endingOf(name: string, digits: string): EndingVersion {
    const { digest } = this.registry.find(name, digits);
    return { digest, as: this.registry.canary(name)?.digest === digest ? 'canary' : 'active' };
  }

  /** Before work that its place in the order may refuse still. */
  private checkHolder(name: string, holder: string): void {
    if (holder !== '') checkName(holder, 'holder');
    checkHolder(this.registry.state, name, holder, this.registry.nowMs());
  }

  /** Resolves when it is loaded. Rejects with ADAPTER_STATE, ADAPTER_ARENA_FULL and so on. */
  pin(name: string, digest: string, how: Submission = {}): Promise<AdapterVersion> {
    return this.pinned(name, digest, true, how);
  }

  unpin(name: string, digest: string, how: Submission = {}): Promise<AdapterVersion> {
    return this.pinned(name, digest, false, how);
  }

  /** Rejects with ADAPTER_STATE where it serves, is pinned or is being worked with. */
  async delete(name: string, digest: string, how: Submission = {}): Promise<void> {
    if (this.order === undefined) return deleteVersion(this.registry, name, digest);
    await this.underway(name, digest);
    await this.order({ act: 'delete', name, digest }, how);
  }

  private async pinned(
    name: string,
    digest: string,
    isPinned: boolean,
    how: Submission,
  ): Promise<AdapterVersion> {
    if (this.order === undefined) return pinVersion(this.registry, name, digest, isPinned);
    await this.underway(name, digest);
    const version = this.registry.find(name, digest);
    const act: AdapterAct = isPinned
      ? { act: 'pin', version: receivedOf(version) }
      : { act: 'unpin', name, digest: version.digest };
    await this.order(act, how);
    return this.registry.find(name, version.digest);
  }

  /** Leases of all names, also of those that have ended. */
  get leases(): readonly NameLease[] {
    return this.registry.state.leases;
  }

  /** Folder of a version's files. */
  folderOf(digest: string): string {
    return this.registry.folders.pathOf(digest);
  }

  list(name: string): readonly ListedVersion[] {
    return this.registry.list(name);
  }

  described(version: AdapterVersion): ListedVersion {
    return this.registry.described(version);
  }

  find(name: string, digest: string): ListedVersion {
    return this.registry.described(this.registry.find(name, digest));
  }

  /**
   * How a canary fares by each rule; of one that has ended how it fared, until the name has
   * another one or the process ends.
   */
  watchOf(version: AdapterVersion): CanaryReport | undefined {
    return this.rollout.watch.reportOf(version);
  }

  comparisonOf(version: AdapterVersion): ComparisonSummary | undefined {
    return version.state === 'canary' ? this.rollout.watch.summaryOf(version) : undefined;
  }

  /** Memory of the engine's arena and of the files. */
  memory() {
    return { arena: this.registry.parts.engine.adapterArena(), disk: this.registry.diskUse() };
  }

  /** Counts of served requests, and the state of the current canaries. */
  counts() {
    const canaries = this.registry.canaries().flatMap((version) => {
      const summary = this.comparisonOf(version);
      if (summary === undefined) return [];
      const { canary, active, shadowed, overlap } = summary;
      const answers = { canaryAnswers: canary.answers, activeAnswers: active.answers };
      return [{ name: version.name, ...answers, shadowed, overlap }];
    });
    const active = this.registry.list().filter(({ state }) => state === 'active');
    const leases = leaseEnds(this.registry.state, this.registry.nowMs());
    const { warmedAgain } = this.rollout;
    const recalls = { ...this.recalls };
    return { recalls, ...this.memory(), canaries, active, leases, warmedAgain };
  }

  /** Condition of the disk, as of the last write or look. */
  condition() {
    return this.registry.condition();
  }

  lookAtDisk(): Promise<void> {
    return this.registry.lookAtDisk();
  }

  /** After the last request: nothing is chosen any more. */
  close(): Promise<void> {
    this.rollout.stop();
    return this.registry.close();
  }

  private async endCanary({ name, digest }: AdapterVersion, fault: Fault): Promise<void> {
    const event = { action: 'rollback', name, digest, detail: fault.message } as const;
    try {
      const ends = { digest, as: 'canary' } as const;
      const act = { act: 'roll-back', name, ends, reason: fault.message } as const;
      await (this.order?.(act, {}) ?? this.rollout.rollBack(name, fault.message, ends));
      this.settings.onEvent({ ...event, error: undefined });
    } catch (thrown) {
      this.settings.onEvent({ ...event, error: TesseraError.from(thrown) });
    }
  }
}
