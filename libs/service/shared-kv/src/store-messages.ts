import type { ServeOptions } from './domain/serve-store-link.js';
import type { GuardCounts, GuardOptions } from './guarded-store.js';
import type { StoreSettings } from './open-store.js';

/** Everything that a store's thread is started with. */
export interface StoreThreadData {
  /** Field of the configuration that has the address. */
  readonly field: string;
  readonly store: StoreSettings;
  readonly guard: GuardOptions;
  readonly serve: ServeOptions;
  readonly link: {
    /**
     * URL of a module whose `openStoreLink(data)` gives a StoreLink of the calling thread; left
     * out: the engine's, whose links are numbers.
     */
    readonly module?: string;
    readonly data: unknown;
  };
}

/** To the thread. */
export type StoreOrder = { readonly erasedUntil: number } | 'close';

export interface StoreMetrics extends GuardCounts {
  readonly isOpen: boolean;
  /** Why calls fail; empty where they do not. */
  readonly reason: string;
}

/** Report of the thread: once a second, and where the breaker changes. */
export interface StoreReport {
  readonly metrics: StoreMetrics;
}
