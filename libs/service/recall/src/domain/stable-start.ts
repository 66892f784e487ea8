import type { Behaviour } from '@tessera/behaviour';

/**
 * Where a history that is cut begins, so that its beginning stays the same over many requests: the
 * newest N behaviours alone would begin one later with each new one, and no prefix of the prompt
 * would be found again. Of the oldest `percent` of them the one with the least rank begins, and a
 * rank is a hash of the behaviour itself. So the start is a function of what is there, however it
 * arrived, and moves only when its behaviour leaves or a lesser rank comes: after about half as
 * many new behaviours as may be left out (the minimizers of Schleimer, Wilkerson and Aiken,
 * "Winnowing", SIGMOD 2003).
 * @param behaviours oldest first
 * @param percent of them that may be left out, 0..90; 0: none
 * @returns index of the first that stays
 */
export function stableStart(behaviours: readonly Behaviour[], percent: number): number {
  const last = Math.floor((behaviours.length * percent) / 100);
  let start = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let index = 0; index <= last && index < behaviours.length; index++) {
    const rank = rankOf(behaviours[index] as Behaviour);
    // Of equals the newest, which stays the longest.
    if (rank > least) continue;
    least = rank;
    start = index;
  }
  return start;
}

/** 32 bits: FNV-1a over the text, spread over all bits by the finaliser of MurmurHash3. */
function rankOf({ itemId, action, time }: Behaviour): number {
  const text = `${time}\n${action}\n${itemId}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
