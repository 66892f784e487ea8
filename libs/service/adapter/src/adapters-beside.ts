import { TesseraError } from '@tessera/errors';
import type { AdapterEvent } from './adapter-settings.js';
import { endAll, restore } from './domain/registry-state.js';
import type { AdapterRegistry } from './registry.js';
import type { Rollout } from './rollout.js';

/** Milliseconds that requests with an adapter have to end, or the update of weights is given up. */
const END_MAX_MS = 10_000;

/** Versions that an update of weights has taken out of service. */
export interface EndedVersions {
  readonly count: number;
  /** Serves them again: the weights stay. Never rejects. */
  undo(): Promise<void>;
}

/** Adapters, as an update of the weights beside them needs them. */
export class AdaptersBeside {
  constructor(
    private readonly registry: AdapterRegistry,
    private readonly rollout: Rollout,
    private readonly onEvent: (event: AdapterEvent) => void,
  ) {}

  /**
   * Takes all versions out of service and memory; the base model serves. Rejects with
   * DEADLINE_EXCEEDED where requests keep one for too long, STORE_FULL or IO_FAILED: then all
   * serve on.
   */
  async end(reason: string): Promise<EndedVersions> {
    const { registry } = this;
    this.rollout.interrupt();
    let ended: ReturnType<typeof endAll>['ended'] = [];
    await registry.change((state) => {
      const done = endAll(state, reason, registry.nowMs());
      ended = done.ended;
      return done.state;
    });
    const undo = () =>
      registry
        .goOn((all) => restore(all, ended))
        .catch((thrown: unknown) => {
          const error = TesseraError.from(thrown);
          const event = { action: 'lost', error, detail: error.message } as const;
          for (const { name, digest } of ended) this.onEvent({ ...event, name, digest });
        });
    try {
      await registry.loaded.emptied(END_MAX_MS);
    } catch (thrown) {
      await undo();
      throw thrown;
    }
    return { count: ended.length, undo };
  }

  /**
   * Other weights serve now: versions of theirs do from here on, and all others wait. A failure is
   * told, and the next start does it.
   */
  async rebase(): Promise<void> {
    await this.registry.goOn().catch((thrown: unknown) => {
      const error = TesseraError.from(thrown);
      const none = { name: this.registry.defaultName, digest: '' };
      this.onEvent({ action: 'lost', ...none, error, detail: error.message });
    });
    void this.rollout.warmAgain();
  }
}
