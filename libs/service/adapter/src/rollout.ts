import { TesseraError } from '@tessera/errors';
import { CanaryWatch, type SeenRecall, type WatchSettings } from './canary-watch.js';
import type { EndingVersion } from './domain/adapter-act.js';
import type { AdapterLease, ServedAdapter } from './domain/adapter-choice.js';
import { ranksApart } from './domain/adapter-engine.js';
import type { AdapterProbe } from './domain/adapter-probe.js';
import { type AdapterVersion, checkShare } from './domain/adapter-version.js';
import type { Fault } from './domain/canary-comparison.js';
import { placeOf } from './domain/canary-share.js';
import { HotUsers } from './domain/hot-users.js';
import { checkHolder } from './domain/name-lease.js';
import {
  activate,
  inState,
  predecessorOf,
  type RegistryState,
  type Replaced,
  reject,
  rollBack,
  startCanary,
  versionOf,
} from './domain/registry-state.js';
import { GoldenSet, type GoldenSettings } from './golden-set.js';
import type { AdapterRegistry } from './registry.js';

export interface RolloutSettings {
  readonly golden: GoldenSettings;
  readonly watch: WatchSettings;
  /** Users whose keys and values are computed before a switch at most; 0: none. */
  readonly warmUsers: number;
  /** Milliseconds that this may take. */
  readonly warmMs: number;
  /** This node loads what others compute: it computes nothing behind an update of weights. */
  readonly onlyAnswers?: boolean;
}

export interface Activation {
  /** Share of the users, in (0, 1]. */
  readonly share: number;
  /** Compare the answers to the golden set first. */
  readonly isCompared: boolean;
  readonly isWarmed: boolean;
  /** Left out: a person activates. */
  readonly holder?: string;
}

export interface Activated {
  readonly version: AdapterVersion;
  readonly warmedUsers: number;
  /** Undefined where it was not compared. */
  readonly goldenOverlap: number | undefined;
}

export interface RollbackWanted {
  /** Digest of the version that is meant; left out or empty: whatever serves. */
  readonly digest?: string;
  /** Left out: a person rolls back. */
  readonly holder?: string;
}

/** Undefined stands for the base model. */
export type RolledBack = Omit<Replaced, 'state'>;

/** The remedy, which the first adapter after the base model needs as a rule. */
const FORCE =
  '; `--force` of the commands, `force` of the request, activates a version that is meant to ' +
  'answer otherwise, as the first after the base model is';
const PERCENT = 100;
/** Milliseconds of the computation behind an update of weights, which delays nothing. */
const WARM_AGAIN_MS = 120_000;

/** Moves an adapter version into or out of service: compare, warm up, activate, roll back. */
export class Rollout {
  readonly golden: GoldenSet;
  readonly watch: CanaryWatch;
  private readonly hot = new HotUsers();
  /** Ends the activation of a name that is under way. */
  private readonly activating = new Map<string, AbortController>();
  private again = new AbortController();
  /** Users whose keys and values were computed again, or not, behind updates of weights. */
  readonly warmedAgain = { computed: 0, failed: 0, leftOut: 0 };

  constructor(
    private readonly registry: AdapterRegistry,
    private readonly probe: AdapterProbe,
    private readonly settings: RolloutSettings,
    onFault: (canary: AdapterVersion, fault: Fault) => void,
  ) {
    this.golden = new GoldenSet(settings.golden, probe);
    this.watch = new CanaryWatch(registry, settings.watch, onFault);
  }

  /** A recall that has ended, with the version that it was given. */
  observe(lease: AdapterLease, seen: SeenRecall): void {
    if (seen.userId !== undefined) this.hot.seen(seen.userId);
    this.watch.observe(lease, seen);
  }

  /**
   * Serves a version from the next request on. Rejects with ADAPTER_NOT_FOUND, ADAPTER_STATE (also
   * where the golden set's answers have too little in common, or a rollback happened meanwhile),
   * ADAPTER_INVALID, ADAPTER_ARENA_FULL, STORE_FULL, IO_FAILED; what served serves on then.
   * @param ordered has the switch made in its place of an order; left out: it is made here
   */
  async activate(
    name: string,
    digest: string,
    wanted: Activation,
    ordered?: (version: AdapterVersion) => Promise<void>,
  ): Promise<Activated> {
    const { registry } = this;
    checkShare(wanted.share);
    const version = registry.find(name, digest);
    this.switched(registry.state, version, wanted.share);
    if (this.activating.has(name)) {
      const message = `name: expected no activation of '${name}' under way, got one`;
      throw new TesseraError('ADAPTER_STATE', message, { field: 'name' });
    }
    const stop = new AbortController();
    this.activating.set(name, stop);
    try {
      const held = await registry.loaded.load(version);
      try {
        const goldenOverlap = wanted.isCompared ? await this.compare(held.served) : undefined;
        const warmedUsers = wanted.isWarmed
          ? await this.warm(held.served, wanted.share, stop.signal)
          : 0;
        if (stop.signal.aborted) throw overtaken(name);
        if (ordered !== undefined) await unlessStopped(ordered(version), stop.signal, name);
        else {
          await registry.change((state) => {
            if (stop.signal.aborted) throw overtaken(name);
            checkHolder(state, name, wanted.holder ?? '', registry.nowMs());
            return this.switched(state, version, wanted.share);
          });
        }
        return { version: registry.find(name, version.digest), warmedUsers, goldenOverlap };
      } finally {
        held.release();
      }
    } finally {
      this.activating.delete(name);
    }
  }

  /**
   * The switch alone, also while another activation of the name prepares its own. Rejects as
   * activate() does.
   */
  async switchTo(name: string, digest: string, share: number): Promise<Activated> {
    const { registry } = this;
    checkShare(share);
    const version = registry.find(name, digest);
    const held = await registry.loaded.load(version);
    try {
      await registry.change((state) => this.switched(state, version, share));
    } finally {
      held.release();
    }
    const switched = registry.find(name, version.digest);
    return { version: switched, warmedUsers: 0, goldenOverlap: undefined };
  }

  /** Ends the activation of a name that is under way; left out: of all names. */
  interrupt(name?: string): void {
    if (name !== undefined) this.activating.get(name)?.abort();
    else for (const stop of this.activating.values()) stop.abort();
  }

  /** A user of whom something was computed ahead of a recall. */
  appended(userId: string): void {
    this.hot.seen(userId);
  }

  /**
   * Computes the prompts of the most frequent users, behind all other work: the weights are others
   * now, and keys and values of the old ones are of no use. Resolves when it is done or stopped.
   */
  async warmAgain(): Promise<void> {
    this.stop();
    const { warmUsers, onlyAnswers = false } = this.settings;
    if (onlyAnswers) return;
    this.again = new AbortController();
    const signal = AbortSignal.any([this.again.signal, AbortSignal.timeout(WARM_AGAIN_MS)]);
    const users = this.hot.hottest(warmUsers);
    const { computed, failed } = await this.warmEach(users, signal, (userId) =>
      this.registry.choose('', userId),
    );
    this.warmedAgain.computed += computed;
    this.warmedAgain.failed += failed;
    this.warmedAgain.leftOut += users.length - computed - failed;
  }

  /** Ends what computes in the background. */
  stop(): void {
    this.again.abort();
  }

  /**
   * Ends the canary of the name, or brings back what was active before it; for the next request.
   * A version that cannot be loaded any more is passed over. Rejects with ADAPTER_STATE where the
   * base model serves already, PUSH_CONFLICT, STORE_FULL or IO_FAILED.
   * @param only the version that is meant; left out: whatever serves
   */
  async rollBack(
    name: string,
    reason: string,
    only?: EndingVersion,
    holder = '',
  ): Promise<RolledBack> {
    if (only === undefined) this.interrupt(name);
    const { registry } = this;
    for (;;) {
      const unfit: { version: AdapterVersion; error: TesseraError }[] = [];
      let done: Replaced | undefined;
      await registry.change(
        (state) => {
          checkHolder(state, name, holder, registry.nowMs());
          const [first] = unfit;
          if (first !== undefined) {
            return reject(state, first.version, first.error.message, registry.nowMs());
          }
          if (only !== undefined && !ends(state, name, only)) {
            const expected = `the ${only.as} version`;
            const message = `digest: expected ${expected}, got one that does not serve so`;
            throw new TesseraError('ADAPTER_STATE', message, { field: 'digest' });
          }
          done = rollBack(state, name, reason, registry.nowMs());
          return done.state;
        },
        () => this.loadPredecessor(name, unfit),
      );
      if (done !== undefined) return { serves: done.serves, replaced: done.replaced };
    }
  }

  private async loadPredecessor(
    name: string,
    unfit: { version: AdapterVersion; error: TesseraError }[],
  ): Promise<void> {
    const { state, loaded } = this.registry;
    if (inState(state, name, 'canary') !== undefined) return;
    const back = predecessorOf(state, name);
    if (back === undefined || inState(state, name, 'active') === undefined) return;
    try {
      // It stays: what a rollback goes back to is wanted.
      const held = await loaded.load(back);
      held.release();
    } catch (thrown) {
      unfit.push({ version: back, error: TesseraError.from(thrown) });
    }
  }

  private switched(state: RegistryState, { name, digest }: AdapterVersion, share: number) {
    const version = versionOf(state, name, digest);
    const nowMs = this.registry.nowMs();
    return share < 1
      ? startCanary(state, version, share, nowMs)
      : activate(state, version, nowMs).state;
  }

  /** With what serves the name's users now. */
  private async compare(adapter: ServedAdapter): Promise<number | undefined> {
    const active = this.registry.active(adapter.name);
    if (active?.digest === adapter.digest) return undefined;
    // The first that ranks has nothing beside it: the base model ranks no items.
    if (active === undefined && adapter.reading !== undefined) return undefined;
    const held = active && (await this.registry.loaded.load(active));
    try {
      const overlap = await this.golden.overlap(adapter, held?.served);
      const { overlapMinPercent } = this.settings.watch.rules;
      if (overlap === undefined || PERCENT * overlap >= overlapMinPercent) return overlap;
      const message =
        `golden set: expected at least ${overlapMinPercent} % of the items that are served now, ` +
        `got ${(PERCENT * overlap).toFixed(1)} %${FORCE}`;
      throw new TesseraError('ADAPTER_STATE', message, { field: 'digest' });
    } finally {
      held?.release();
    }
  }

  /** Whom it is going to serve, who comes most often first; one after another, within the time. */
  private async warm(adapter: ServedAdapter, share: number, stopped: AbortSignal): Promise<number> {
    const { warmUsers, warmMs } = this.settings;
    // Prompts are those of the requests' own adapters.
    if (adapter.reading !== undefined && ranksApart(adapter.engine)) return 0;
    const isServed = (userId: string) => placeOf(adapter.name, userId) < share;
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(warmMs)]);
    const users = this.hot.hottest(warmUsers, isServed);
    const lease = { adapter, release: () => undefined };
    return (await this.warmEach(users, signal, () => lease)).computed;
  }

  /** Warms users one after another, until the signal aborts. */
  private async warmEach(
    users: readonly string[],
    signal: AbortSignal,
    leaseOf: (userId: string) => Pick<AdapterLease, 'adapter' | 'release'>,
  ): Promise<{ readonly computed: number; readonly failed: number }> {
    const counts = { computed: 0, failed: 0 };
    for (const userId of users) {
      if (signal.aborted) break;
      try {
        const lease = leaseOf(userId);
        try {
          await this.probe.warm(userId, lease.adapter, signal);
        } finally {
          lease.release();
        }
        counts.computed += 1;
      } catch {
        // The user's prompt is computed at the next visit instead.
        counts.failed += 1;
      }
    }
    return counts;
  }
}

/** True if a rollback of the name ends this version. */
function ends(state: RegistryState, name: string, { digest, as }: EndingVersion): boolean {
  const canary = inState(state, name, 'canary');
  if (as === 'canary') return canary?.digest === digest;
  return canary === undefined && inState(state, name, 'active')?.digest === digest;
}

/** The act may stand behind one that waits until the activation releases its version. */
function unlessStopped(ordered: Promise<void>, stopped: AbortSignal, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stopped.addEventListener('abort', () => reject(overtaken(name)), { once: true });
    ordered.then(resolve, reject);
  });
}

function overtaken(name: string): TesseraError {
  const message =
    `name: expected no rollback of '${name}' nor an update of weights before the switch, ` +
    'got one';
  return new TesseraError('ADAPTER_STATE', message, { field: 'name' });
}
