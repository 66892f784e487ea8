import { PackedWriter, type ReachRequest, writeReachRequest } from '@tessera/native';

/** Used again by every request: the addon copies what it reads during the call. */
const out = new PackedWriter();

/** A request for a reach as the addon reads it; good until the next call. */
export function packReach(request: ReachRequest): readonly [words: Uint32Array, count: number] {
  return out.record(writeReachRequest, request);
}
