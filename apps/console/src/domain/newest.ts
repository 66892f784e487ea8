/** So many of all lists, newest first; of equal times by ID, so that every page has one order. */
export function newestOf<Entry extends { readonly timeMs: number; readonly id: string }>(
  lists: readonly (readonly Entry[])[],
  limit: number,
): readonly Entry[] {
  const isBefore = (a: Entry, b: Entry) => b.timeMs - a.timeMs || (a.id < b.id ? -1 : 1);
  return lists.flat().sort(isBefore).slice(0, limit);
}
