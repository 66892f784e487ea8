/** Time of a slice of work on many items before others have the event loop, in milliseconds. */
const SLICE_MS = 2;

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Results of `act` for each item, in order. After each slice others have a turn of the event
 * loop; one item is never cut. Rejects with what `act` throws or rejects with; later items are then
 * left out.
 */
export async function inSlices<Item, Made>(
  items: readonly Item[],
  act: (item: Item, place: number) => Made | Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  let beganMs = performance.now();
  for (const [place, item] of items.entries()) {
    if (performance.now() - beganMs >= SLICE_MS) {
      await nextTurn();
      beganMs = performance.now();
    }
    const one = act(item, place);
    made.push(one instanceof Promise ? await one : one);
  }
  return made;
}
