import type { TesseraError } from '@tessera/errors';
import type { RegistrySettings } from './registry-parts.js';
import type { RolloutSettings } from './rollout.js';

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
