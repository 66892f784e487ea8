import type { EngineAnswer } from '@tessera/engine';

/** Best item that an answer by value leaves out. */
interface RunnerUp {
  /** Its ID. */
  readonly item: string;
  /** Lowest bid with which its value would be no lower than that of the last item. */
  readonly bid: number;
}

export interface PricedAnswer {
  /** Best item left out of a recall by value whose prices are known. */
  readonly runnerUp?: RunnerUp | undefined;
}

export interface PricedLoser {
  /** Lowest bid with which an item that its value kept out would be no lower. */
  readonly neededBid?: number | undefined;
}

/** @returns undefined where its bid is not known */
export function runnerUpOf({
  bestLeftOutId: item,
  bestLeftOutBid: bid,
}: Pick<EngineAnswer, 'bestLeftOutId' | 'bestLeftOutBid'>): RunnerUp | undefined {
  return item !== '' && Number.isFinite(bid) ? { item, bid } : undefined;
}
