import type { Submission } from '@tessera/contracts';
import type { AdapterVersion } from './adapter-version.js';

/** A version that a rollback takes out of service. */
export interface EndingVersion {
  readonly digest: string;
  readonly as: 'canary' | 'active';
}

/** Parts of a version, but for its files' content. */
export type ReceivedVersion = Pick<
  AdapterVersion,
  'name' | 'digest' | 'baseModel' | 'files' | 'remark' | 'pushedBy'
>;

/** The same of a version that is here. */
export function receivedOf(version: AdapterVersion): ReceivedVersion {
  const { name, digest, baseModel, files, remark, pushedBy } = version;
  return { name, digest, baseModel, files, remark, pushedBy };
}

/** Acts on adapters that a cluster orders by its log. */
export type AdapterAct =
  | { readonly act: 'receive'; readonly version: ReceivedVersion }
  | {
      readonly act: 'activate';
      /** Its files may not have arrived everywhere. */
      readonly version: ReceivedVersion;
      readonly share: number;
    }
  | {
      readonly act: 'roll-back';
      readonly name: string;
      readonly ends: EndingVersion;
      readonly reason: string;
    }
  | { readonly act: 'pin'; readonly version: ReceivedVersion }
  | { readonly act: 'unpin' | 'delete'; readonly name: string; readonly digest: string };

/** Puts an act in order and resolves when it is done here. */
export type AdapterOrder = (act: AdapterAct, how: Submission) => Promise<unknown>;
