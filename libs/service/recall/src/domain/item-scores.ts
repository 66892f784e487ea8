import type { EngineAnswer, EngineScores } from '@tessera/engine';
import type { ItemScore, RecalledItem, ScoreTarget } from './recall-types.js';

/** Scores come for the known SIDs alone, in the order of the targets. */
export function scoresOf(
  targets: readonly ScoreTarget[],
  sids: readonly (readonly number[])[],
  { scores }: Pick<EngineScores, 'scores'>,
): ItemScore[] {
  const left = [...scores];
  return targets.map((target, index) => {
    const itemId = 'itemId' in target ? target.itemId : '';
    const sid = sids[index] ?? [];
    const score = sid.length === 0 ? undefined : left.shift();
    return score === undefined
      ? { itemId, sid, outcome: 'unknown' as const }
      : { itemId, sid, outcome: 'scored' as const, score };
  });
}

/** The items of an answer, best first. */
export function recalledItems(answer: EngineAnswer): RecalledItem[] {
  return answer.items.map(({ itemId, title, attributes, score, path }, index) => ({
    itemId,
    sid: answer.paths[path]?.sid ?? [],
    score,
    rank: index + 1,
    title,
    attributes,
  }));
}
