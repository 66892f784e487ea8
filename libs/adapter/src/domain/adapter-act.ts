import type { Submission } from '@tessera/log';
import type { AdapterVersion } from './adapter-version.js';

/** A version that a rollback takes out of service. */
export interface EndingVersion {
  readonly digest: string;
  readonly as: 'canary' | 'active';
}

/** What a cluster has to know of adapters, in the order of its log. */
export type AdapterAct =
  | {
      readonly act: 'receive';
      readonly version: Pick<
        AdapterVersion,
        'name' | 'digest' | 'baseModel' | 'files' | 'remark' | 'pushedBy'
      >;
    }
  | {
      readonly act: 'activate';
      readonly name: string;
      readonly digest: string;
      readonly share: number;
    }
  | {
      readonly act: 'roll-back';
      readonly name: string;
      readonly ends: EndingVersion;
      readonly reason: string;
    }
  | { readonly act: 'pin' | 'unpin' | 'delete'; readonly name: string; readonly digest: string };

/** Puts an act in order and resolves when it is done here. */
export type AdapterOrder = (act: AdapterAct, how: Submission) => Promise<unknown>;
