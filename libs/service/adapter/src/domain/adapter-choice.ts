import type { ItemTemplate } from '@tessera/prompt';
import type { EngineAdapter } from './adapter-engine.js';

/** How a version's ranked items are read. */
export interface ItemReading {
  readonly item: ItemTemplate;
  /** Weight of the recall's score in each head. */
  readonly scoreWeights: readonly number[];
}

/** A version that requests run with. */
export interface ServedAdapter {
  readonly name: string;
  readonly digest: string;
  readonly engine: EngineAdapter;
  /** Undefined: it has no heads. */
  readonly reading?: ItemReading | undefined;
}

/** Why a request got the version that it got. */
export type Arm = 'base' | 'active' | 'canary' | 'named';

/** A version that stays loaded until it is given back. */
export interface AdapterLease {
  /** Undefined: the base model alone. */
  readonly adapter: ServedAdapter | undefined;
  readonly arm: Arm;
  /** Name that the choice was made for; '' where a digest or the base model was asked for. */
  readonly name: string;
  /** Idempotent. */
  release(): void;
}

/** Chooses the version of a request, for as long as the request runs. */
export interface AdapterChoice {
  /**
   * @param wanted a name, a digest, `base`, or '' for the configured name
   * @param userKey what stays the same of a user
   * @throws TesseraError ADAPTER_NOT_FOUND, ADAPTER_STATE
   */
  choose(wanted: string, userKey: string): AdapterLease;
}

export const BASE_LEASE: AdapterLease = {
  adapter: undefined,
  arm: 'base',
  name: '',
  release: () => undefined,
};
