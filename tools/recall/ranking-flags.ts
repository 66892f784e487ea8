import type { Rank } from '@tessera/recall';
import { type FlagKind, type Flags, fail } from '../terminal/command.js';

/** How items are ranked (docs/integrate/ranking.md), of commands that do. */
export const RANK_FLAGS: Readonly<Record<string, FlagKind>> = {
  rank: 'text',
  'rank-items': 'text',
  'rank-valuation': 'text',
};

export const RANK_USAGE = `  --rank NAME|FOLDER   items go by the heads of a configured adapter,
                       or of a folder as it is pushed
  --rank-items N       items that are recalled and ranked
  --rank-valuation NAME    a valuation whose terms may be heads (default: by the first head)`;

/** @throws Error of the command where a flag of a ranking stands alone */
export function checkRankFlags(flags: Flags): void {
  const lone = Object.keys(RANK_FLAGS).find((name) => flags.has(name));
  if (!flags.has('rank') && lone !== undefined) fail(lone, 'none without --rank', 'one');
}

const COUNT_MAX = 65_536;

export function readRank(flags: Flags, adapter: string): Rank {
  const items = flags.integer('rank-items', 1, COUNT_MAX);
  const name = flags.text('rank-valuation');
  return {
    adapter,
    ...(items !== undefined && { items }),
    ...(name !== undefined && { valuation: { name, weights: {} } }),
  };
}
