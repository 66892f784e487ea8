import { TesseraError } from '@tessera/errors';
import { Advertisers, type Arrival, isNewAd, type Market } from './advertisers.js';
import { ChangeQueue } from './change-queue.js';
import { DAYPARTS, daypartOf, shareOfHour } from './daypart.js';
import { DRAW, draw, textKey } from './random.js';
import { type RecallShares, recallKind } from './recall-kind.js';
import { type Ad, type Drift, Truth } from './truth.js';
import type { WorldAnswer, WorldBehaviour, WorldItem, WorldService } from './world-service.js';

export const TICKS_OF_HOUR = 10;
const RESULTS = 10;
const CONCURRENCY = 4;
const BATCH_MAX = 500;
/** Expected of a visit; budgets are sized by it. */
const CLICKS_OF_VISIT = 0.5;
/** Of purchases on their way; more are lost and counted. */
const PENDING_MAX = 10_000;
const PURCHASED_MAX = 0.3;
const PURCHASE_HOURS = 2;
const PURCHASE_HOURS_MAX = 24;
const POSITION_BIAS = 0.7;

/** Probability of a look at a place of a page, from 1. */
export const looksAt = (place: number): number => place ** -POSITION_BIAS;
/** ID of a user, from 0. */
export const userNameOf = (seed: number, user: number): string => `w-${seed}-${user}`;

export interface WorldOptions extends RecallShares {
  readonly users: number;
  /** Of a user, a day. */
  readonly visits: number;
  readonly drift: Drift;
  readonly market: Market;
  /** One more user, who makes this share of all behaviours: clicks on one item. */
  readonly bot?: { readonly item: string; readonly share: number };
}

export const WORLD_DEFAULTS: WorldOptions = {
  seed: 7,
  users: 200,
  visits: 20,
  drift: { hours: 24, ads: 1, topics: 1, seasons: 0.6 },
  market: { newAds: 24, freshImpressions: 50, budget: 4 },
  explore: 0.2,
};

/** Of one simulated hour. */
export interface HourFigures {
  /** From 0. */
  readonly hour: number;
  readonly visits: number;
  /** Visits without an answer. */
  readonly lost: number;
  readonly explored: number;
  /** Shown ads that the user looked at. */
  readonly impressions: number;
  readonly clicks: number;
  readonly purchases: number;
  readonly clickRate: number;
  /** The same by the probabilities of the truth: without the luck of users. */
  readonly expectedClickRate: number;
  /** Sum of the bids that advertisers paid for clicks. */
  readonly value: number;
  /** Bids of shown ads by the probabilities of the truth, whatever budgets had left. */
  readonly expectedValue: number;
  /** Share of the live ads that were shown. */
  readonly coverage: number;
  readonly liveAds: number;
  readonly spentCampaigns: number;
  readonly freshImpressions: number;
  /** New ads whose first day ended in this hour. */
  readonly arrivals: readonly Arrival[];
  /** Seconds since the newest behaviour that the active version has learned; null: none follows. */
  readonly freshnessSeconds: number | null;
  /** Answers by digest of the adapter version; '': the base model. */
  readonly versions: Readonly<Record<string, number>>;
  readonly botBehaviours: number;
  /** Changes that the service refused, and behaviours, purchases and changes that went nowhere. */
  readonly refused: number;
  readonly dropped: number;
}

interface Visit {
  readonly number: number;
  readonly user: number;
}

const newHour = () => ({
  visits: 0,
  lost: 0,
  explored: 0,
  impressions: 0,
  expectedImpressions: 0,
  clicks: 0,
  expectedClicks: 0,
  expectedValue: 0,
  purchases: 0,
  value: 0,
  freshImpressions: 0,
  botBehaviours: 0,
  refused: 0,
  dropped: 0,
  arrivals: [] as Arrival[],
  shown: new Set<string>(),
  versions: new Map<string, number>(),
});

/**
 * Simulated users and advertisers that use a service. A tick asks for all its visits, then settles
 * them in their order; random numbers belong to a visit, an ad or an hour, so neither the order of
 * answers nor what they hold changes any.
 */
export class World {
  /** Rejects as `service` does. Ads of an earlier world go, paused ones come back. */
  static async open(service: WorldService, options: WorldOptions = WORLD_DEFAULTS): Promise<World> {
    const all = await service.items();
    const bySid = (left: WorldItem, right: WorldItem) =>
      compareSids(left.sid, right.sid) || (left.itemId < right.itemId ? -1 : 1);
    const items = all.filter(({ itemId }) => !isNewAd(itemId)).sort(bySid);
    if (items.length === 0) {
      throw new TesseraError('REQUEST_INVALID', 'catalogue: expected ads, got none');
    }
    const world = new World(service, options, items);
    const isLeft = ({ itemId }: WorldItem) => isNewAd(itemId);
    world.changes.add(all.filter(isLeft).map(({ itemId }) => ({ op: 'remove', itemId })));
    const paused = items.filter((item) => item.paused);
    world.changes.add(paused.map(({ itemId }) => ({ op: 'resume', itemId })));
    return world;
  }

  readonly truth: Truth;
  readonly advertisers: Advertisers;
  /** No visit of the last tick had an answer. */
  isAway = false;
  private ticks = 0;
  private visitCount = 0;
  private planned = 0;
  private readonly pending = new Map<number, WorldBehaviour[]>();
  private pendingCount = 0;
  private botCredit = 0;
  private botCount = 0;
  private readonly changes = new ChangeQueue();
  private figures = newHour();

  private constructor(
    private readonly service: WorldService,
    readonly options: WorldOptions,
    items: readonly WorldItem[],
  ) {
    const { seed, users, visits, drift, market } = options;
    const places = items.map(({ itemId, sid, attributes }) => {
      const { category = '', discount } = attributes;
      return { item: itemId, sid, categoryName: String(category), discount };
    });
    this.truth = new Truth(seed, drift, places, users);
    const clicksOfDay = users * visits * CLICKS_OF_VISIT;
    this.advertisers = new Advertisers(seed, market, this.truth, items, clicksOfDay);
  }

  /** Simulated hours, one after the other and as fast as the service answers. */
  async hours(count: number): Promise<HourFigures[]> {
    const hours: HourFigures[] = [];
    while (hours.length < count) {
      const hour = await this.tick();
      if (hour !== undefined) hours.push(hour);
    }
    return hours;
  }

  /**
   * A tenth of an hour; the figures of the hour that it ends.
   * @param asks false: its visits are lost
   */
  async tick(asks = true): Promise<HourFigures | undefined> {
    const hour = Math.floor(this.ticks / TICKS_OF_HOUR);
    if (this.ticks % TICKS_OF_HOUR === 0) this.beginHour(hour);
    if (asks) await this.change();
    const daypart = daypartOf(hour);
    const visits = this.visitsOfTick(hour);
    const answers = asks ? await this.ask(visits, daypart) : visits.map(() => undefined);
    this.isAway = asks && visits.length > 0 && answers.every((answer) => answer === undefined);
    const behaviours = [
      ...visits.flatMap((visit, at) => this.settle(visit, answers[at], daypart)),
      ...this.duePurchases(),
    ];
    await this.append([...behaviours, ...this.ofBot(behaviours.length, daypart)]);
    this.ticks += 1;
    return this.ticks % TICKS_OF_HOUR === 0 ? this.endHour(hour) : undefined;
  }

  private beginHour(hour: number): void {
    if (hour > 0) this.truth.step();
    this.figures.arrivals.push(...this.advertisers.beginHour(hour));
  }

  private visitsOfTick(hour: number): Visit[] {
    const { seed, users, visits } = this.options;
    this.planned += (users * visits * shareOfHour(hour)) / TICKS_OF_HOUR;
    const ofTick: Visit[] = [];
    for (; this.visitCount < Math.floor(this.planned); this.visitCount += 1) {
      const user = Math.floor(users * draw(seed, DRAW.visit, this.visitCount));
      ofTick.push({ number: this.visitCount, user });
    }
    return ofTick;
  }

  private async ask(
    visits: readonly Visit[],
    daypart: number,
  ): Promise<(WorldAnswer | undefined)[]> {
    const { seed } = this.options;
    const answers: (WorldAnswer | undefined)[] = [];
    let next = 0;
    const askOn = async () => {
      for (let at = next++; at < visits.length; at = next++) {
        const { number, user } = visits[at] as Visit;
        const question = {
          visit: this.visitName(number),
          userId: userNameOf(seed, user),
          daypart: DAYPARTS[daypart] as string,
          resultCount: RESULTS,
          ...recallKind(this.options, number),
        };
        answers[at] = await this.service.recall(question).catch(() => undefined);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, askOn));
    return answers;
  }

  private settle(
    visit: Visit,
    answer: WorldAnswer | undefined,
    daypart: number,
  ): readonly WorldBehaviour[] {
    const { figures } = this;
    figures.visits += 1;
    if (answer === undefined) {
      figures.lost += 1;
      return [];
    }
    if (recallKind(this.options, visit.number).explores) figures.explored += 1;
    figures.versions.set(answer.version, (figures.versions.get(answer.version) ?? 0) + 1);
    // The user judges the page as it came: a click on it changes what they like afterwards.
    const page = answer.itemIds.map((item) => {
      const ad = this.truth.ads.get(item);
      const attraction = ad === undefined ? 0 : this.truth.attraction(visit.user, ad, daypart);
      return { item, ad, attraction };
    });
    return page.flatMap(({ item, ad, attraction }, at) =>
      this.look(visit, { item, ad, attraction, position: at + 1 }, daypart),
    );
  }

  private look(
    { number, user }: Visit,
    { item, ad, attraction, position }: Shown,
    daypart: number,
  ): WorldBehaviour[] {
    const { figures, advertisers } = this;
    const { seed } = this.options;
    const key = ad?.key ?? textKey(item);
    const looks = looksAt(position);
    figures.shown.add(item);
    figures.expectedImpressions += looks;
    figures.expectedClicks += looks * attraction;
    figures.expectedValue += looks * attraction * advertisers.bidOf(item);
    if (draw(seed, DRAW.examined, number, position) >= looks) return [];
    const behaviour = (action: WorldBehaviour['action']) => ({
      visit: this.visitName(number),
      userId: userNameOf(seed, user),
      itemId: item,
      action,
      daypart: DAYPARTS[daypart] as string,
      position,
    });
    figures.impressions += 1;
    if (advertisers.isFresh(item)) figures.freshImpressions += 1;
    advertisers.shown(item);
    const impression = behaviour('impression');
    if (draw(seed, DRAW.click, number, key) >= attraction || ad === undefined) return [impression];
    figures.clicks += 1;
    figures.value += advertisers.charge(item);
    this.truth.click(user, ad);
    const purchased = PURCHASED_MAX * draw(seed, DRAW.purchase, key);
    if (draw(seed, DRAW.purchase, number, key) < purchased) {
      this.later(number, key, behaviour('purchase'));
    }
    return [impression, behaviour('click')];
  }

  private later(visit: number, key: number, purchase: WorldBehaviour): void {
    if (this.pendingCount >= PENDING_MAX) {
      this.figures.dropped += 1;
      return;
    }
    const wait = -PURCHASE_HOURS * Math.log(1 - draw(this.options.seed, DRAW.delay, visit, key));
    const due = this.ticks + Math.ceil(Math.min(wait, PURCHASE_HOURS_MAX) * TICKS_OF_HOUR);
    this.pending.set(due, [...(this.pending.get(due) ?? []), purchase]);
    this.pendingCount += 1;
  }

  private duePurchases(): readonly WorldBehaviour[] {
    const due = this.pending.get(this.ticks) ?? [];
    this.pending.delete(this.ticks);
    this.pendingCount -= due.length;
    this.figures.purchases += due.length;
    return due;
  }

  private ofBot(others: number, daypart: number): WorldBehaviour[] {
    const { bot, seed } = this.options;
    if (bot === undefined) return [];
    this.botCredit += (others * bot.share) / (1 - bot.share);
    const clicks: WorldBehaviour[] = [];
    for (; this.botCredit >= 1; this.botCredit -= 1) {
      this.botCount += 1;
      clicks.push({
        userId: `w-${seed}-bot`,
        itemId: bot.item,
        action: 'click',
        daypart: DAYPARTS[daypart] as string,
        number: this.botCount,
      });
    }
    this.figures.botBehaviours += clicks.length;
    return clicks;
  }

  private async append(behaviours: readonly WorldBehaviour[]): Promise<void> {
    for (let at = 0; at < behaviours.length; at += BATCH_MAX) {
      const batch = behaviours.slice(at, at + BATCH_MAX);
      await this.service.append(batch).catch(() => {
        this.figures.dropped += batch.length;
      });
    }
  }

  /** Changes for which the service is away wait on. */
  private async change(): Promise<void> {
    this.changes.add(this.advertisers.takeChanges());
    const { refused, dropped } = await this.changes.applyTo(this.service);
    this.figures.refused += refused;
    this.figures.dropped += dropped;
  }

  private async endHour(hour: number): Promise<HourFigures> {
    const { expectedImpressions, expectedClicks, shown, versions, ...counts } = this.figures;
    const { impressions, clicks } = counts;
    this.figures = newHour();
    const learned = await this.service.learnedUntilMs().catch(() => undefined);
    const { liveCount, spentCount } = this.advertisers;
    return Object.assign(counts, {
      hour,
      clickRate: ratio(clicks, impressions),
      expectedClickRate: ratio(expectedClicks, expectedImpressions),
      coverage: ratio(shown.size, liveCount),
      liveAds: liveCount,
      spentCampaigns: spentCount,
      freshnessSeconds: learned === undefined ? null : (Date.now() - learned) / 1000,
      versions: Object.fromEntries(versions),
    });
  }

  private visitName(visit: number): string {
    return `w-${this.options.seed}-v-${visit}`;
  }
}

interface Shown {
  readonly item: string;
  readonly ad: Ad | undefined;
  readonly attraction: number;
  readonly position: number;
}

const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

function compareSids(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((code, level) => code !== right[level]);
  return at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
}
