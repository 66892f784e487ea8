import { accessSync, appendFileSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataRoot, loadConfig } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { CONNECTION_FLAGS, CONNECTION_USAGE, servedAt } from './served/connection.js';
import { type FlagKind, Flags, fail, print, runCommand } from './terminal/command.js';
import { HEADER, hourLine } from './world/hour-lines.js';
import { judgedRanking, rankingLine } from './world/judged-ranking.js';
import { Pace } from './world/pace.js';
import { worldPicture } from './world/picture.js';
import type { RankingFigures } from './world/ranking-figures.js';
import { ServedWorld } from './world/served-world.js';
import { truthLines } from './world/truth-lines.js';
import { type HourFigures, WORLD_DEFAULTS, World, type WorldOptions } from './world/world.js';

const { users, visits, drift, market, explore, seed } = WORLD_DEFAULTS;
const { newAds, freshImpressions, budget } = market;
const percentOf = (share: number) => String(share * 100);
const DRAW_ALL = 0.3;
const RANK = 0.1;

const USAGE = `usage: npm run world -- [--days N] [--seed N] [flags]

Simulated users and advertisers use a running service: they ask, look, click and buy; budgets are
spent, bids move, ads begin and end, and what all users like drifts. A line an hour; figures and a
picture in a folder. The same seed has the same visits, drift and new ads, whatever serves.
  --days N             simulated days (default: 3); 0: until the service or the command ends
  --seed N             default: ${seed}
  --address HOST:PORT  gRPC of the service (default: the configured one)
  --speed N|max        simulated seconds of one second (default: 120, a day in 12 minutes);
                       max: as fast as the service answers
  --out DIR            hours.jsonl and world.svg; an earlier world's are replaced (default:
                       data/world)
  --truth              truth.jsonl there too: what users like, at the end of each day, and how the
                       service's heads order beside it, which is printed as well
  --users N            default: ${users}
  --visits N           of a user, a day (default: ${visits})
  --drift-hours N      after which the appeal of an ad is another (default: ${drift.hours})
  --drift PERCENT      how much it and tastes of all vary; 0: not at all (default: 100)
  --new-ads N          that begin in a day; as many end (default: ${newAds})
  --fresh N            impressions that a new ad is fresh for (default: ${freshImpressions})
  --budget PERCENT     of a campaign's expected spending; 0: none (default: ${percentOf(budget)})
  --explore PERCENT    of the recalls that draw one place among fresh ads (default:
                       ${percentOf(explore)})
  --draw PERCENT       of the recalls that draw all places among all ads, from which the
                       console's page Outcomes estimates (default: ${percentOf(DRAW_ALL)})
  --rank PERCENT       of the other recalls that are ranked by heads, where the service has some
                       (default: ${percentOf(RANK)})
  --bot ITEM=PERCENT   one more user, with this share of all behaviours: clicks on the item
${CONNECTION_USAGE}`;

const NUMBERS = {
  days: [0, 10_000],
  seed: [0, 2 ** 31 - 1],
  users: [1, 100_000],
  visits: [1, 1000],
  'drift-hours': [1, 10_000],
  drift: [0, 300],
  'new-ads': [0, 2400],
  fresh: [1, 1_000_000],
  budget: [0, 1_000_000],
  explore: [0, 100],
  draw: [0, 100],
  rank: [0, 100],
} as const satisfies Readonly<Record<string, readonly [number, number]>>;
const FLAGS: Readonly<Record<string, FlagKind>> = {
  ...CONNECTION_FLAGS,
  ...Object.fromEntries(Object.keys(NUMBERS).map((name) => [name, 'text' as const])),
  address: 'text',
  speed: 'text',
  out: 'text',
  bot: 'text',
  truth: 'switch',
};
const DAYS = 3;
const SPEED = 120;
const SPEED_MAX = 100_000;
const HOURS_OF_DAY = 24;
/** Visits of a day: what a tick holds at once is bounded by it. */
const VISITS_MAX = 1_000_000;
/** Hours of the picture; of a longer run the newest. */
const HOURS_MAX = HOURS_OF_DAY * 28;

function optionsOf(flags: Flags): WorldOptions {
  const number = (name: keyof typeof NUMBERS, otherwise: number) => {
    const [min, max] = NUMBERS[name];
    return flags.integer(name, min, max) ?? otherwise;
  };
  const percent = (name: 'drift' | 'budget' | 'explore' | 'draw' | 'rank', otherwise: number) =>
    number(name, otherwise * 100) / 100;
  const bot = flags.text('bot');
  const strength = percent('drift', 1);
  const options = {
    seed: number('seed', seed),
    users: number('users', users),
    visits: number('visits', visits),
    drift: {
      hours: number('drift-hours', drift.hours),
      ads: drift.ads * strength,
      topics: drift.topics * strength,
      seasons: drift.seasons * strength,
    },
    market: {
      newAds: number('new-ads', market.newAds),
      freshImpressions: number('fresh', market.freshImpressions),
      budget: percent('budget', market.budget),
    },
    explore: percent('explore', explore),
    drawAll: percent('draw', DRAW_ALL),
    rank: percent('rank', RANK),
    ...(bot !== undefined && { bot: botOf(bot) }),
  };
  const perDay = options.users * options.visits;
  if (perDay > VISITS_MAX) fail('users', `${VISITS_MAX} visits a day at most`, String(perDay));
  return options;
}

function botOf(text: string): NonNullable<WorldOptions['bot']> {
  const [, item = '', percent = ''] = /^(.+)=(\d{1,2})$/.exec(text) ?? [];
  const share = Number(percent) / 100;
  return share > 0 ? { item, share } : fail('bot', 'ITEM=PERCENT of 1 to 99', text);
}

function paceOf(flags: Flags): Pace {
  const speed = flags.text('speed') ?? String(SPEED);
  return new Pace(speed === 'max' ? undefined : (flags.integer('speed', 1, SPEED_MAX) ?? SPEED));
}

/** The files of a run; each hour is in them when its line is printed. */
class Files {
  private readonly hours: HourFigures[] = [];

  constructor(
    private readonly folder: string,
    private readonly withTruth: boolean,
  ) {
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK | constants.X_OK);
    } catch (error) {
      fail('out', 'a folder that can be written to', (error as Error).message);
    }
  }

  private begin(): void {
    writeFileSync(join(this.folder, 'hours.jsonl'), '');
    if (this.withTruth) writeFileSync(join(this.folder, 'truth.jsonl'), '');
  }

  /** Returns whether the truth is due: at the end of a day. */
  write(world: World, figures: HourFigures): boolean {
    if (this.hours.length === 0) this.begin();
    this.hours.push(figures);
    this.hours.splice(0, this.hours.length - HOURS_MAX);
    appendFileSync(join(this.folder, 'hours.jsonl'), `${JSON.stringify(figures)}\n`);
    writeFileSync(join(this.folder, 'world.svg'), worldPicture(this.hours));
    if (!this.withTruth || (figures.hour + 1) % HOURS_OF_DAY !== 0) return false;
    appendFileSync(join(this.folder, 'truth.jsonl'), truthLines(world, figures.hour));
    return true;
  }

  writeRanking(hour: number, ranking: RankingFigures): void {
    appendFileSync(join(this.folder, 'truth.jsonl'), `${JSON.stringify({ hour, ranking })}\n`);
  }
}

/** Waits for a service that is away, for a while; rejects as the last attempt. */
async function reached<T>(pace: Pace, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await ask();
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (!error.retryable) throw error;
      if (attempt === 0) await print(`The service is away, the world waits: ${error.message}`);
      if (!(await pace.waitAgain(attempt))) throw error;
    }
  }
}

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, FLAGS);
  const options = optionsOf(flags);
  const days = flags.integer('days', ...NUMBERS.days) ?? DAYS;
  const pace = paceOf(flags);
  const { address, connection } = servedAt(flags, loadConfig().config);
  const folder = flags.text('out') ?? join(dataRoot, 'data', 'world');
  const files = new Files(folder, flags.has('truth'));
  const service = new ServedWorld(address, connection);
  // A world of `npm start -- --world` ends with the service, however that ends.
  process.once('disconnect', () => process.exit(0));
  try {
    const world = await reached(pace, () => World.open(service, options));
    await print(HEADER);
    const hours = days === 0 ? Infinity : days * HOURS_OF_DAY;
    for (let hour = 0; hour < hours; ) {
      // Visits of ticks that went by while the service was away are lost.
      const figures = await world.tick((await pace.next()) === 'now');
      if (world.isAway) await reached(pace, () => service.answers());
      if (figures === undefined) continue;
      hour += 1;
      const isJudged = files.write(world, figures);
      await print(hourLine(figures));
      if (!isJudged) continue;
      const ranking = await judgedRanking(world, service);
      if (ranking === undefined) continue;
      files.writeRanking(figures.hour, ranking);
      await print(rankingLine(ranking));
    }
  } finally {
    service.close();
  }
});
