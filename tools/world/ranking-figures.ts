import { DRAW, stream } from './random.js';

/** An ad of a ranked answer, as the world sees it. Ranks are from 1. */
export interface JudgedAd {
  /** Probability that its user, looking at it, clicks it. */
  readonly attraction: number;
  readonly bid: number;
  /** Answer of the head that orders. */
  readonly click: number;
  /** Place by the recall's score. */
  readonly recallRank: number;
  /** Place by expected value. */
  readonly valueRank: number;
}

/** A quotient of two sums over users, with the 95 % interval of drawing users anew. */
export interface Quotient {
  readonly low: number;
  readonly mean: number;
  readonly high: number;
}

interface Orders {
  readonly head: number;
  readonly score: number;
}

export interface RankingFigures {
  readonly users: number;
  /** Liking of the first five by head over that of the first five by score. */
  readonly liked: Quotient;
  /** Liking of the first five over that of the best five. */
  readonly ofBest: Orders;
  /** Correlation by Spearman of an order with liking, mean of users. */
  readonly correlation: Orders;
  /** Earnings of a page by expected value over those of a page by score. */
  readonly earned: Quotient;
}

const FIRST = 5;
const PAGE = 10;
const DRAWS = 2000;
const OUTSIDE = 0.025;

const sumOf = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0);
const meanOf = (values: readonly number[]): number => sumOf(values) / values.length;

/**
 * Figures of rankings, a list for each user.
 * @param looks probability of a look at a place, from 1
 */
export function rankingFigures(
  lists: readonly (readonly JudgedAd[])[],
  looks: (place: number) => number,
): RankingFigures {
  const users = lists.map((list) => ordersOf(list, looks));
  const of = (member: keyof UserFigures) => users.map((user) => user[member]);
  const best = sumOf(of('likedBest'));
  return {
    users: users.length,
    liked: quotient(of('likedByHead'), of('likedByScore')),
    ofBest: { head: sumOf(of('likedByHead')) / best, score: sumOf(of('likedByScore')) / best },
    correlation: { head: meanOf(of('headCorrelation')), score: meanOf(of('scoreCorrelation')) },
    earned: quotient(of('earnedByValue'), of('earnedByScore')),
  };
}

type UserFigures = ReturnType<typeof ordersOf>;

function ordersOf(list: readonly JudgedAd[], looks: (place: number) => number) {
  const by = (key: (ad: JudgedAd) => number) =>
    list.toSorted((left, right) => key(left) - key(right) || left.recallRank - right.recallRank);
  const [head, score] = [by(({ click }) => -click), by(({ recallRank }) => recallRank)];
  const liked = (ads: readonly JudgedAd[]) =>
    sumOf(ads.slice(0, FIRST).map(({ attraction }) => attraction));
  const earned = (ads: readonly JudgedAd[]) =>
    sumOf(ads.slice(0, PAGE).map(({ attraction, bid }, at) => looks(at + 1) * attraction * bid));
  const likings = list.map(({ attraction }) => attraction);
  return {
    likedByHead: liked(head),
    likedByScore: liked(score),
    likedBest: liked(by(({ attraction }) => -attraction)),
    headCorrelation: correlation(
      list.map(({ click }) => click),
      likings,
    ),
    scoreCorrelation: correlation(
      list.map(({ recallRank }) => -recallRank),
      likings,
    ),
    earnedByValue: earned(by(({ valueRank }) => valueRank)),
    earnedByScore: earned(score),
  };
}

/** Spearman's rank correlation; equal values have the mean of their ranks. */
function correlation(left: readonly number[], right: readonly number[]): number {
  const [one, other] = [ranksOf(left), ranksOf(right)];
  const middle = (left.length + 1) / 2;
  const product = (first: readonly number[], second: readonly number[]) =>
    sumOf(first.map((rank, at) => (rank - middle) * ((second[at] as number) - middle)));
  const spread = Math.sqrt(product(one, one) * product(other, other));
  return spread === 0 ? 0 : product(one, other) / spread;
}

function ranksOf(values: readonly number[]): number[] {
  const ascending = values.toSorted((left, right) => left - right);
  const ranks = new Map<number, number>();
  for (let begin = 0; begin < ascending.length; ) {
    const value = ascending[begin] as number;
    let end = begin;
    while (ascending[end] === value) end += 1;
    ranks.set(value, (begin + 1 + end) / 2);
    begin = end;
  }
  return values.map((value) => ranks.get(value) as number);
}

function quotient(above: readonly number[], below: readonly number[]): Quotient {
  const random = stream(above.length, DRAW.interval);
  const drawn = Array.from({ length: DRAWS }, () => {
    let [over, under] = [0, 0];
    for (let count = 0; count < above.length; count += 1) {
      const user = Math.floor(random() * above.length);
      over += above[user] as number;
      under += below[user] as number;
    }
    return over / under;
  }).sort((left, right) => left - right);
  return {
    low: drawn[Math.floor(OUTSIDE * DRAWS)] as number,
    mean: sumOf(above) / sumOf(below),
    high: drawn[Math.ceil((1 - OUTSIDE) * DRAWS) - 1] as number,
  };
}
