import type { EngineAnswer } from '@tessera/engine';

/** Best item that an answer by value leaves out. */
interface RunnerUp {
  /** Its ID. */
  readonly item: string;
  /** Lowest bid with which its value would be no lower than that of the last item. */
  readonly bid: number;
}

export interface PricedAnswer {
  /** Of a recall by value whose prices are known. */
  readonly runnerUp?: RunnerUp | undefined;
}

export interface PricedLoser {
  /** Of an item that its value kept out: the lowest bid with which it would be no lower. */
  readonly neededBid?: number | undefined;
}

/** @returns undefined where its bid is not known */
export function runnerUpOf({
  bestLeftOutId: item,
  bestLeftOutBid: bid,
}: Pick<EngineAnswer, 'bestLeftOutId' | 'bestLeftOutBid'>): RunnerUp | undefined {
  return item !== '' && Number.isFinite(bid) ? { item, bid } : undefined;
}
