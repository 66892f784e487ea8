import type { CatalogueLanding } from '@tessera/engine';

/** A live item near the place of a vector. */
export interface Neighbour {
  readonly itemId: string;
  readonly title: string;
  readonly sid: readonly number[];
  /** First codes that it has in common with the nearest ones of the vector. */
  readonly sharedLevels: number;
}

/** Place of a vector, by the codebooks of this digest. */
export interface Landing {
  /** The nearest at each level, and the squared distances that they leave. */
  readonly codes: readonly number[];
  readonly distances: readonly number[];
  /** The first semantic ID that has room. */
  readonly sid: readonly number[];
  readonly neighbours: readonly Neighbour[];
  readonly codebooks: string;
  readonly sequence: number;
}

export function neighboursOf({
  itemIds,
  titles,
  sidOffsets,
  sidCodes,
  sharedLevels,
}: CatalogueLanding): readonly Neighbour[] {
  return itemIds.map((itemId, i) => ({
    itemId,
    title: titles[i] ?? '',
    sid: [...sidCodes.subarray(sidOffsets[i], sidOffsets[i + 1])],
    sharedLevels: sharedLevels[i] ?? 0,
  }));
}
