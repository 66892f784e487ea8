import { describe, expect, it } from 'vitest';
import { FakeWorld } from './fake-world.js';
import { judgedRanking, rankingLine } from './judged-ranking.js';
import { rankingFigures } from './ranking-figures.js';
import { looksAt, WORLD_DEFAULTS, World } from './world.js';
import type { RankingService, WorldRanking } from './world-service.js';

const ATTRACTIONS = [0.1, 0.4, 0.2, 0.3, 0.05, 0.6, 0.5];

/** Ads by score as given, by head and by value as users like them or the other way round. */
const listOf = (likes: boolean) =>
  ATTRACTIONS.map((attraction, at) => {
    const place = ATTRACTIONS.filter((other) => (likes ? other > attraction : other < attraction));
    const click = likes ? attraction : -attraction;
    return { attraction, bid: 2, click, recallRank: at + 1, valueRank: place.length + 1 };
  });

describe('figures of rankings', () => {
  it('are those of the best order where a head orders as users like ads', () => {
    const { users, liked, ofBest, correlation, earned } = rankingFigures(
      [listOf(true), listOf(true)],
      looksAt,
    );
    expect(users).toBe(2);
    expect(liked.mean).toBeCloseTo(2 / 1.05);
    expect([liked.low, liked.high]).toEqual([liked.mean, liked.mean]);
    expect(ofBest.head).toBeCloseTo(1);
    expect(ofBest.score).toBeCloseTo(1.05 / 2);
    expect(correlation.head).toBeCloseTo(1);
    // Places by score 1 to 7 have liking of rank 6, 3, 5, 4, 7, 1, 2.
    expect(correlation.score).toBeCloseTo(1 - (6 * (25 + 1 + 4 + 0 + 4 + 25 + 25)) / (7 * 48));
    expect(earned.mean).toBeGreaterThan(1.2);
  });

  it('fall below those of the score where a head orders the other way round', () => {
    const { liked, correlation, earned } = rankingFigures([listOf(false)], looksAt);
    expect(liked.mean).toBeLessThan(1.01);
    expect(correlation.head).toBeCloseTo(-1);
    expect(earned.mean).toBeLessThan(1);
  });

  it('have an interval where users differ', () => {
    const { low, mean, high } = rankingFigures(
      Array.from({ length: 40 }, (_, at) => listOf(at % 4 > 0)),
      looksAt,
    ).liked;
    expect([low < mean, mean < high]).toEqual([true, true]);
  });
});

/** Heads say what users like; the recall's order is that of items. */
class Judged extends FakeWorld implements RankingService {
  async ranked({ userId, daypart, count }: WorldRanking) {
    const question = { visit: '', userId, daypart, resultCount: count, explores: false };
    const { itemIds } = await this.recall(question);
    return itemIds.map((itemId, at) => {
      return { itemId, click: 1 / (at + 1), recallRank: ((at * 7) % count) + 1 };
    });
  }
}

describe('the judgement of a service', () => {
  it('asks for all users and has a line for people', async () => {
    const service = new Judged(true);
    const world = await World.open(service, Object.assign({}, WORLD_DEFAULTS, { users: 9 }));
    service.world = world;
    const figures = await judgedRanking(world, service);
    expect(figures).toMatchObject({ users: 9, ofBest: { head: 1 } });
    expect(rankingLine(figures as NonNullable<typeof figures>)).toMatch(
      /^ranked: 9 users like the first five by head \d\.\d\d times \[\d\.\d\d, \d\.\d\d\] those by/,
    );
  });

  it('is none where the service has no heads', async () => {
    const service = new FakeWorld();
    const world = await World.open(service);
    expect(await judgedRanking(world, { ranked: async () => undefined })).toBeUndefined();
  });
});
