interface Entry {
  readonly timeMs: number;
  readonly totalUs: number;
  readonly id: string;
}

interface Part {
  readonly order: 'time' | 'slowest' | 'fastest';
  readonly offset: number;
  readonly limit: number;
}

const DIFFERENCES = {
  time: (a: Entry, b: Entry) => b.timeMs - a.timeMs,
  slowest: (a: Entry, b: Entry) => b.totalUs - a.totalUs,
  fastest: (a: Entry, b: Entry) => a.totalUs - b.totalUs,
};

/** A part of all lists in one order; of equals by ID, so that every page has one order. */
export function firstOf<Listed extends Entry>(
  lists: readonly (readonly Listed[])[],
  { order, offset, limit }: Part,
): readonly Listed[] {
  const isBefore = (a: Listed, b: Listed) => DIFFERENCES[order](a, b) || (a.id < b.id ? -1 : 1);
  return lists
    .flat()
    .sort(isBefore)
    .slice(offset, offset + limit);
}
