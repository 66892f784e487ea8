import { TesseraError } from '@tessera/errors';
import type { SeenRecall } from './canary-watch.js';
import type { AdapterChoice, AdapterLease, Arm } from './domain/adapter-choice.js';
import type { AdapterEngine } from './domain/adapter-engine.js';
import type { AdapterProbe } from './domain/adapter-probe.js';
import type { AdapterVersion } from './domain/adapter-version.js';
import type { CanaryReport, ComparisonSummary, Fault } from './domain/canary-comparison.js';
import type { PushParts } from './domain/push-parts.js';
import { pin, remove, unpin, versionOf } from './domain/registry-state.js';
import { shownWaiting } from './domain/waiting-versions.js';
import { type Pushed, PushIntake } from './push.js';
import { AdapterRegistry, type ListedVersion, type RegistrySettings } from './registry.js';
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

  /** Rejects as AdapterRegistry.open() does, and with CONFIG_INVALID for a bad golden set. */
  static async open(
    engine: AdapterEngine,
    probe: AdapterProbe,
    settings: AdapterSettings,
  ): Promise<Adapters> {
    const registry = await AdapterRegistry.open({
      ...settings.registry,
      engine,
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

  clicked(userId: string, itemId: string): void {
    this.rollout.watch.clicked(userId, itemId);
  }

  /** @param by who pushes; left out: that is not known */
  push(parts: PushParts, by = ''): Promise<Pushed> {
    return this.intake.push(parts, by);
  }

  /** What pushes have taken and not given back, though none is under way. */
  heldWhileIdle(): { readonly pushBytes: number } {
    return { pushBytes: this.intake.underway > 0 ? 0 : this.registry.reservations.bytes };
  }

  activate(name: string, digest: string, wanted: Activation): Promise<Activated> {
    return this.rollout.activate(name, digest, wanted);
  }

  rollBack(name: string, reason: string): Promise<RolledBack> {
    return this.rollout.rollBack(name, reason);
  }

  /** Resolves when it is loaded. Rejects with ADAPTER_STATE, ADAPTER_ARENA_FULL and so on. */
  async pin(name: string, digest: string): Promise<AdapterVersion> {
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

  async unpin(name: string, digest: string): Promise<AdapterVersion> {
    await this.registry.change((state) => unpin(state, versionOf(state, name, digest)));
    return this.registry.find(name, digest);
  }

  /** Rejects with ADAPTER_STATE where it serves, is pinned or is being worked with. */
  async delete(name: string, digest: string): Promise<void> {
    const waiting = this.registry.findWaiting(name, digest);
    if (waiting !== undefined) return this.registry.removeWaiting(waiting);
    await this.registry.change((state) => {
      const version = versionOf(state, name, digest);
      if (!this.registry.loaded.isBusy(version.digest)) return remove(state, version);
      const message = 'digest: expected a version that nobody works with, got one in use';
      throw new TesseraError('ADAPTER_STATE', message, { field: 'digest' });
    });
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
    return { recalls: { ...this.recalls }, ...this.memory(), canaries };
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
      await this.rollout.rollBack(name, fault.message, digest);
      this.settings.onEvent({ ...event, error: undefined });
    } catch (thrown) {
      this.settings.onEvent({ ...event, error: TesseraError.from(thrown) });
    }
  }
}
