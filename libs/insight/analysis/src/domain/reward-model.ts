import type { LoggedRecall } from './logged-recall.js';

/** Parts of the users; each part's rewards are expected from those of the others alone. */
const FOLDS = 5;
/** Shown items that the mean of all counts for beside those of an item's own. */
const PRIOR_ITEMS = 20;

interface Seen {
  items: number;
  rewards: number;
}

const nothingSeen = (): Seen[] => Array.from({ length: FOLDS }, () => ({ items: 0, rewards: 0 }));

/** Observations without those of a fold. */
function without(seen: readonly Seen[], fold: number): Seen {
  const sum = { items: 0, rewards: 0 };
  seen.forEach(({ items, rewards }, at) => {
    if (at === fold) return;
    sum.items += items;
    sum.rewards += rewards;
  });
  return sum;
}

/**
 * Expected reward of a shown item: the mean of the item, drawn towards that of all. Of other users
 * alone, so that an error of it costs an estimate precision and never its truth.
 */
export class RewardModel {
  private readonly folds = new Map<string, number>();
  private readonly items = new Map<string, Seen[]>();
  private readonly all = nothingSeen();

  constructor(recalls: readonly LoggedRecall[]) {
    for (const { user, items } of recalls) {
      const fold = this.folds.get(user) ?? this.folds.size % FOLDS;
      this.folds.set(user, fold);
      for (const { itemId, reward } of items) {
        const seen = this.items.get(itemId) ?? nothingSeen();
        this.items.set(itemId, seen);
        for (const one of [seen[fold], this.all[fold]] as Seen[]) {
          one.items += 1;
          one.rewards += reward;
        }
      }
    }
  }

  expected(user: string, itemId: string): number {
    const fold = this.folds.get(user) ?? 0;
    const all = without(this.all, fold);
    const mean = all.items === 0 ? 0 : all.rewards / all.items;
    const own = without(this.items.get(itemId) ?? [], fold);
    return (own.rewards + PRIOR_ITEMS * mean) / (own.items + PRIOR_ITEMS);
  }
}
