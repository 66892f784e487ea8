import type { Submission } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import type { Tokenizer } from '@tessera/prompt';
import type { SeenRecall } from './canary-watch.js';
import {
  type AdapterAct,
  type AdapterOrder,
  type ReceivedVersion,
  receivedOf,
} from './domain/adapter-act.js';
import type { AdapterChoice, AdapterLease, Arm } from './domain/adapter-choice.js';
import type { AdapterEngine } from './domain/adapter-engine.js';
import type { AdapterProbe } from './domain/adapter-probe.js';
import type { AdapterVersion, ListedVersion } from './domain/adapter-version.js';
import type { CanaryReport, ComparisonSummary, Fault } from './domain/canary-comparison.js';
import type { PushParts } from './domain/push-parts.js';
import { pin, remove, unpin, versionOf } from './domain/registry-state.js';
import { shownWaiting } from './domain/waiting-versions.js';
import { type Pushed, PushIntake } from './push.js';
import { AdapterRegistry, type RegistrySettings } from './registry.js';
import {
  type Activated,
  type Activation,
  type RolledBack,
  Rollout,
  type RolloutSettings,
} from './rollout.js';

/** An event of a version that nobody asked for. */
export interface AdapterEvent {
  /**
   * `rollback`: the comparison ended a canary; `lost`: a version could not be loaded any more;
   * `waits`: it is of another base model than the one that is served, and is kept for it.
   */
  readonly action: 'rollback' | 'lost' | 'waits';
  readonly name: string;
  readonly digest: string;
  /** Undefined: it was done. */
  readonly error: TesseraError | undefined;
  readonly detail: string;
}

export interface AdapterSettings {
  readonly registry: RegistrySettings;
  readonly rollout: RolloutSettings;
  readonly onEvent: (event: AdapterEvent) => void;
}

/** Adapters of one engine: what callers may do with versions, and which one each request gets. */
export class Adapters implements AdapterChoice {
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

  /** The same of the version that ranked a recall, which is counted by its own adapter alone. */
  observeRanking(lease: AdapterLease, seen: SeenRecall): void {
    this.rollout.watch.observe(lease, seen);
  }

  clicked(userId: string, itemId: string): void {
    this.rollout.watch.clicked(userId, itemId);
  }

  /** From now on somebody else orders acts, and gives them to perform() in that order. */
  orderBy(order: AdapterOrder): void {
    this.order = order;
  }

  /** @param by who pushes; left out: that is not known */
  async push(parts: PushParts, by = '', how: Submission = {}): Promise<Pushed> {
    const pushed = await this.intake.push(parts, by);
    await this.order?.({ act: 'receive', version: receivedOf(pushed.version) }, how);
    return pushed;
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
   */
  async perform(act: AdapterAct, parts: (version: ReceivedVersion) => PushParts): Promise<unknown> {
    switch (act.act) {
      case 'receive':
        // Its trial takes long, and nothing behind it has to wait for that.
        void this.arrived(act.version, parts).catch((thrown: unknown) => {
          const { name, digest } = act.version;
          const error = TesseraError.from(thrown);
          this.settings.onEvent({ action: 'lost', name, digest, error, detail: error.message });
        });
        return undefined;
      case 'activate': {
        const { name, digest } = await this.arrived(act.version, parts);
        return this.rollout.switchTo(name, digest, act.share);
      }
      case 'roll-back':
        return this.rollout.rollBack(act.name, act.reason, act.ends);
      case 'delete':
        return this.deleteHere(act.name, act.digest);
      case 'pin': {
        const { name, digest } = await this.arrived(act.version, parts);
        return this.pinHere(name, digest, true);
      }
      case 'unpin':
        return this.pinHere(act.name, act.digest, false);
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
    if (order === undefined) return this.rollout.activate(name, digest, wanted);
    await this.underway(name, digest);
    return this.rollout.activate(name, digest, wanted, async (version) => {
      const { share } = wanted;
      await order({ act: 'activate', version: receivedOf(version), share }, how);
    });
  }

  async rollBack(name: string, reason: string, how: Submission = {}): Promise<RolledBack> {
    if (this.order === undefined) return this.rollout.rollBack(name, reason);
    this.rollout.interrupt(name);
    const canary = this.registry.canary(name);
    const { digest = '' } = canary ?? this.registry.active(name) ?? {};
    const ends = { digest, as: canary === undefined ? 'active' : 'canary' } as const;
    return (await this.order({ act: 'roll-back', name, ends, reason }, how)) as RolledBack;
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
    if (this.order === undefined) return this.deleteHere(name, digest);
    await this.underway(name, digest);
    await this.order({ act: 'delete', name, digest }, how);
  }

  private async pinned(
    name: string,
    digest: string,
    isPinned: boolean,
    how: Submission,
  ): Promise<AdapterVersion> {
    if (this.order === undefined) return this.pinHere(name, digest, isPinned);
    await this.underway(name, digest);
    const version = this.registry.find(name, digest);
    const act: AdapterAct = isPinned
      ? { act: 'pin', version: receivedOf(version) }
      : { act: 'unpin', name, digest: version.digest };
    await this.order(act, how);
    return this.registry.find(name, version.digest);
  }

  private async pinHere(name: string, digest: string, isPinned: boolean): Promise<AdapterVersion> {
    if (!isPinned) {
      await this.registry.change((state) => unpin(state, versionOf(state, name, digest)));
      return this.registry.find(name, digest);
    }
    const version = this.registry.find(name, digest);
    pin(this.registry.state, version);
    const held = await this.registry.loaded.load(version);
    try {
      await this.registry.change((state) => pin(state, versionOf(state, name, version.digest)));
    } finally {
      held.release();
    }
    return this.registry.find(name, version.digest);
  }

  private async deleteHere(name: string, digest: string): Promise<void> {
    const waiting = this.registry.findWaiting(name, digest);
    if (waiting !== undefined) return this.registry.removeWaiting(waiting);
    await this.registry.change((state) => {
      const version = versionOf(state, name, digest);
      if (!this.registry.loaded.isBusy(version.digest)) return remove(state, version);
      const message = 'digest: expected a version that nobody works with, got one in use';
      throw new TesseraError('ADAPTER_STATE', message, { field: 'digest' });
    });
  }

  /** Of the files of a version. */
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

  /** Of the engine's arena and of the files. */
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
    return { recalls: { ...this.recalls }, ...this.memory(), canaries, active };
  }

  /** Of the disk, as of the last write or look. */
  condition() {
    return this.registry.condition();
  }

  lookAtDisk(): Promise<void> {
    return this.registry.lookAtDisk();
  }

  /** After the last request: nothing is chosen any more. */
  close(): Promise<void> {
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
