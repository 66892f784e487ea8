import type { BehaviourEvent, IsClick, Popularity } from '@tessera/behaviour';

/** Hears of clicks: a canary is judged by those on its answers. */
interface ClickWatch {
  clicked(userId: string, itemId: string): void;
}

/** Tells canaries and popularity of the clicks among new behaviours: not of impressions. */
export function countedClicks(
  isClick: IsClick,
  watch: ClickWatch | undefined,
  popularity: Popularity | undefined,
): (events: readonly BehaviourEvent[]) => void {
  return (events) => {
    for (const { userId, itemId, action, timeMs } of events) {
      if (!isClick(action)) continue;
      watch?.clicked(userId, itemId);
      popularity?.add(itemId, timeMs);
    }
  };
}
