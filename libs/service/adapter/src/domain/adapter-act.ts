import type { Submission } from '@tessera/contracts';
import type { AdapterVersion, ReceivedVersion } from './adapter-version.js';
import type { WantedLease } from './name-lease.js';

/** A version that a rollback takes out of service. */
export interface EndingVersion {
  readonly digest: string;
  readonly as: 'canary' | 'active';
}

/** Received form of a version that is already here. */
export function receivedOf(version: AdapterVersion): ReceivedVersion {
  const { name, digest, baseModel, files, remark, pushedBy, holder, learnedUntilMs } = version;
  return { name, digest, baseModel, files, remark, pushedBy, holder, learnedUntilMs };
}

/** Acts on adapters that a cluster orders by its log. */
export type AdapterAct =
  | {
      readonly act: 'receive';
      readonly version: ReceivedVersion;
      /** Left out: a person pushed. */
      readonly lease?: WantedLease | undefined;
    }
  | {
      readonly act: 'activate';
      /** Its files may not have arrived everywhere. */
      readonly version: ReceivedVersion;
      readonly share: number;
      /** Left out here and below: a person. */
      readonly holder?: string;
    }
  | {
      readonly act: 'roll-back';
      readonly name: string;
      readonly ends: EndingVersion;
      readonly reason: string;
      readonly holder?: string;
    }
  | { readonly act: 'pin'; readonly version: ReceivedVersion }
  | { readonly act: 'unpin' | 'delete'; readonly name: string; readonly digest: string };

/** Puts an act in order and resolves when it is done here. */
export type AdapterOrder = (act: AdapterAct, how: Submission) => Promise<unknown>;
