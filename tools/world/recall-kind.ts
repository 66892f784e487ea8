import { DRAW, draw } from './random.js';
import type { WorldRecall } from './world-service.js';

export interface RecallShares {
  readonly seed: number;
  /** Share of visits whose recall explores among fresh ads. */
  readonly explore: number;
  /** Share of visits whose recall draws among all ads; left out: 0. */
  readonly drawAll?: number;
  /** Share of the other visits whose recall is ranked; left out: 0. */
  readonly rank?: number;
}

/** The kind of a visit's recall, which depends on the visit alone. */
export function recallKind(
  { seed, explore, drawAll = 0, rank = 0 }: RecallShares,
  visit: number,
): Pick<WorldRecall, 'explores' | 'drawsAll' | 'ranks'> {
  const chance = draw(seed, DRAW.explore, visit);
  if (chance < explore) return { explores: true };
  const drawsAll = chance < explore + drawAll;
  return { explores: false, drawsAll, ranks: !drawsAll && draw(seed, DRAW.rank, visit) < rank };
}
