import { DAYPARTS } from './daypart.js';
import { type JudgedAd, type RankingFigures, rankingFigures } from './ranking-figures.js';
import { looksAt, userNameOf, type World } from './world.js';
import type { RankingService } from './world-service.js';

const RANKED = 100;
const USERS_MAX = 200;

/** Rankings of the service beside what users like; undefined where it has no heads. */
export async function judgedRanking(
  { truth, advertisers, options: { seed, users } }: World,
  service: RankingService,
): Promise<RankingFigures | undefined> {
  const lists: JudgedAd[][] = [];
  for (let user = 0; user < Math.min(users, USERS_MAX); user += 1) {
    // All parts of the day alike, whatever hour it is.
    const daypart = user % DAYPARTS.length;
    const ranked = await service.ranked({
      userId: userNameOf(seed, user),
      daypart: DAYPARTS[daypart] as string,
      count: RANKED,
    });
    if (ranked === undefined) return undefined;
    lists.push(
      ranked.map(({ itemId, click, recallRank }, at) => {
        const ad = truth.ads.get(itemId);
        const attraction = ad === undefined ? 0 : truth.attraction(user, ad, daypart);
        return { attraction, bid: advertisers.bidOf(itemId), click, recallRank, valueRank: at + 1 };
      }),
    );
  }
  return rankingFigures(lists, looksAt);
}

const two = (value: number) => value.toFixed(2);

/** A sentence for people. */
export function rankingLine(figures: RankingFigures): string {
  const { users, liked, ofBest, correlation, earned } = figures;
  const quotient = ({ low, mean, high }: typeof liked) =>
    `${two(mean)} times [${two(low)}, ${two(high)}]`;
  return [
    `ranked: ${users} users like the first five by head ${quotient(liked)} those by score`,
    `(${two(ofBest.head)} and ${two(ofBest.score)} of the best five);`,
    `rank correlation ${two(correlation.head)} and ${two(correlation.score)};`,
    `by expected value a page earns ${quotient(earned)} that by score`,
  ].join(' ');
}
