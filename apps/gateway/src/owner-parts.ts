import type { TesseraError } from '@tessera/errors';
import type { CallRole } from '@tessera/routing';
import type { Cluster } from './cluster.js';
import { errorOf } from './node-failure.js';
import { renumberedError } from './relevance/part-numbers.js';

/** Entries of a call that one node owns: it alone follows their users in its KV pool. */
export interface OwnerPart {
  /** Partition of the part's user; undefined: it names no user, and any node answers it. */
  readonly partition: number | undefined;
  /** Places of the entries in the call. */
  readonly places: number[];
}

/** @param partitions of each entry's user; undefined: it names none */
export function ownerParts(
  cluster: Cluster,
  partitions: readonly (number | undefined)[],
  role: CallRole,
): readonly OwnerPart[] {
  const parts = new Map<string | undefined, OwnerPart>();
  for (const [place, partition] of partitions.entries()) {
    const isOwned = partition !== undefined;
    const owner = isOwned ? (cluster.choose(partition, role)?.link.member.name ?? '') : undefined;
    const part = parts.get(owner) ?? { partition, places: [] };
    part.places.push(place);
    parts.set(owner, part);
  }
  return [...parts.values()];
}

/** How the parts of a call are asked and put together. */
export interface PartsAsked<Entry> {
  /** Resolves with an entry of the answer for each of the part's. */
  readonly ask: (part: OwnerPart) => Promise<readonly Entry[]>;
  /** Makes the entry that stands for one whose part failed; left out: the call fails as a whole. */
  readonly failed?: ((error: TesseraError) => Entry) | undefined;
}

/** True for what every node would refuse in the same words. */
const isFault = ({ row, retryable }: TesseraError): boolean => !retryable && row.http < 500;

/**
 * Entries of the answer, in the order of the call. Rejects with a part's refusal where that is a
 * fault of the request, where nothing stands for it, and where no part was answered.
 */
export async function askParts<Entry>(
  parts: readonly OwnerPart[],
  { ask, failed }: PartsAsked<Entry>,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  const refusals: TesseraError[] = [];
  await Promise.all(
    parts.map(async (part) => {
      try {
        const answered = await ask(part);
        for (const [at, place] of part.places.entries()) entries[place] = answered[at] as Entry;
      } catch (thrown) {
        const error = renumberedError(errorOf(thrown), part.places);
        if (failed === undefined || isFault(error)) throw error;
        refusals.push(error);
        for (const place of part.places) entries[place] = failed(error);
      }
    }),
  );
  if (refusals.length === parts.length) throw refusals[0] as TesseraError;
  return entries;
}
