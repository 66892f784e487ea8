import { DRAW, draw, drawNormal } from './random.js';
import type { Truth } from './truth.js';
import type { WorldChange, WorldItem } from './world-service.js';

const HOURS_OF_DAY = 24;
const BUDGET_SIGMA = 0.6;
/** Share of ads with another bid and discount in an hour, and how far a bid is from its first. */
const OFFERS_MOVED = 0.05;
const BID_SIGMA = 0.3;
const BID_ELSEWHERE = 1;
/** Percent; trainer/demo_world.py. */
const DISCOUNTS: readonly number[] = [0, 0, 0, 0, 0, 10, 20, 30, 40, 50];

export interface Market {
  /** Ads that begin, and as many that end, in a day. */
  readonly newAds: number;
  /** A new ad is fresh until it had so many impressions, or a day has passed. */
  readonly freshImpressions: number;
  /** Budget of a day against what a campaign is expected to spend; 0: without budgets. */
  readonly budget: number;
}

interface Campaign {
  readonly budget: number;
  spent: number;
  readonly items: Set<string>;
}

interface Listed {
  readonly item: WorldItem;
  readonly campaign: Campaign;
  readonly firstBid: number;
  bid: number;
  readonly sinceHour: number;
  isFresh: boolean;
  impressions: number;
  clicks: number;
}

/** A new ad after its first day. */
export interface Arrival {
  readonly item: string;
  readonly hour: number;
  readonly impressions: number;
  readonly clicks: number;
}

/** Ads of an earlier world. */
export const isNewAd = (item: string): boolean => /^w-\d+-ad-\d+$/.test(item);

/** Campaigns with budgets, offers that move, ads that begin and end; changes are collected. */
export class Advertisers {
  private readonly listed = new Map<string, Listed>();
  private readonly campaigns = new Map<string, Campaign>();
  private readonly free: { readonly sid: readonly number[]; readonly like: WorldItem }[] = [];
  private changes: WorldChange[] = [];
  private arrived = 0;
  private ended = 0;

  constructor(
    private readonly seed: number,
    private readonly market: Market,
    private readonly truth: Truth,
    items: readonly WorldItem[],
    /** Clicks that are expected of a day. */
    private readonly clicksOfDay: number,
  ) {
    const bids = items.map(bidOf);
    const meanBid = bids.reduce((sum, bid) => sum + bid, 0) / bids.length;
    const sizes = new Map<string, number>();
    for (const item of items) {
      sizes.set(campaignOf(item), (sizes.get(campaignOf(item)) ?? 0) + 1);
    }
    for (const [name, size] of sizes) {
      const normal = drawNormal(seed, DRAW.budget, this.campaigns.size);
      const expected = (this.clicksOfDay * meanBid * size) / items.length;
      const scale = Math.exp(BUDGET_SIGMA * normal - BUDGET_SIGMA ** 2 / 2);
      const budget = market.budget === 0 ? Infinity : market.budget * expected * scale;
      this.campaigns.set(name, { budget, spent: 0, items: new Set() });
    }
    for (const item of items) this.list(item, -HOURS_OF_DAY, false);
  }

  /** Ads that can be recalled. */
  get liveCount(): number {
    let live = 0;
    for (const campaign of this.campaigns.values()) {
      if (!isSpent(campaign)) live += campaign.items.size;
    }
    return live;
  }

  /** Campaigns whose budget of the day is spent. */
  get spentCount(): number {
    return [...this.campaigns.values()].filter(isSpent).length;
  }

  /** Highest spending of a campaign beyond its budget of the day: one bid at most. */
  get overspent(): number {
    const over = [...this.campaigns.values()].map(({ spent, budget }) => spent - budget);
    return Math.max(0, ...over);
  }

  isFresh(item: string): boolean {
    return this.listed.get(item)?.isFresh ?? false;
  }

  takeChanges(): WorldChange[] {
    const { changes } = this;
    this.changes = [];
    return changes;
  }

  /** Returns the ads whose first day is over. */
  beginHour(hour: number): Arrival[] {
    if (hour % HOURS_OF_DAY === 0 && hour > 0) this.newDay();
    const grown = this.ageAds(hour);
    this.moveOffers(hour);
    const share = this.market.newAds / HOURS_OF_DAY;
    const due = Math.floor((hour + 1) * share) - Math.floor(hour * share);
    // Before any ends, so that a place is free for an hour at least.
    for (let at = 0; at < due; at += 1) this.begin(hour);
    for (let at = 0; at < due; at += 1) this.end(hour);
    return grown;
  }

  shown(item: string): void {
    const listed = this.listed.get(item);
    if (listed === undefined) return;
    listed.impressions += 1;
    if (listed.isFresh && listed.impressions >= this.market.freshImpressions) this.age(listed);
  }

  /** 0 of an ad that is not listed. */
  bidOf(item: string): number {
    return this.listed.get(item)?.bid ?? 0;
  }

  /** Price of a click: nothing once the budget of the day is spent. */
  charge(item: string): number {
    const listed = this.listed.get(item);
    if (listed === undefined) return 0;
    listed.clicks += 1;
    const { campaign, bid } = listed;
    if (isSpent(campaign)) return 0;
    campaign.spent += bid;
    if (isSpent(campaign)) this.changeAll(campaign, 'pause');
    return bid;
  }

  private newDay(): void {
    for (const campaign of this.campaigns.values()) {
      if (isSpent(campaign)) this.changeAll(campaign, 'resume');
      campaign.spent = 0;
    }
  }

  private changeAll({ items }: Campaign, op: 'pause' | 'resume'): void {
    for (const itemId of items) this.changes.push({ op, itemId });
  }

  private ageAds(hour: number): Arrival[] {
    const grown: Arrival[] = [];
    for (const listed of this.listed.values()) {
      if (listed.sinceHour + HOURS_OF_DAY !== hour) continue;
      const { item, sinceHour, impressions, clicks } = listed;
      if (listed.isFresh) this.age(listed);
      if (sinceHour >= 0) grown.push({ item: item.itemId, hour: sinceHour, impressions, clicks });
    }
    return grown;
  }

  private age(listed: Listed): void {
    listed.isFresh = false;
    const { itemId } = listed.item;
    this.changes.push({ op: 'set', itemId, attributes: { fresh: false } });
  }

  private moveOffers(hour: number): void {
    let at = 0;
    for (const listed of this.listed.values()) {
      at += 1;
      if (draw(this.seed, DRAW.bid, hour, at) >= OFFERS_MOVED) continue;
      const factor = Math.exp(BID_SIGMA * drawNormal(this.seed, DRAW.bid, hour, at, 1));
      listed.bid = Number((listed.firstBid * factor).toFixed(2));
      const { itemId, attributes } = listed.item;
      const isOffered = attributes.discount !== undefined;
      const discount = isOffered ? this.newDiscount(itemId, hour, at) : undefined;
      this.changes.push({ op: 'set', itemId, attributes: { bid: listed.bid, discount } });
    }
  }

  private newDiscount(itemId: string, hour: number, at: number): number {
    const place = Math.floor(DISCOUNTS.length * draw(this.seed, DRAW.discount, hour, at));
    const discount = DISCOUNTS[place] as number;
    this.truth.discount(itemId, discount);
    return discount;
  }

  private begin(hour: number): void {
    if (this.free.length === 0) return;
    const at = Math.floor(draw(this.seed, DRAW.arrival, this.arrived) * this.free.length);
    const [{ sid, like }] = this.free.splice(at, 1) as [(typeof this.free)[number]];
    const itemId = `w-${this.seed}-ad-${this.arrived}`;
    const attributes = Object.assign({}, like.attributes, { bid: bidOf(like), fresh: true });
    const title = `${like.title.replace(/ \(new\)$/, '')} (new)`;
    const item = { itemId, sid, title, attributes, paused: false };
    // A walk is normal once it has drifted: a new ad may be liked much, or little.
    const walk = drawNormal(this.seed, DRAW.arrival, this.arrived, 1);
    this.arrived += 1;
    const { discount } = like.attributes;
    this.truth.add({ item: itemId, sid, categoryName: '', discount }, walk);
    const { campaign } = this.list(item, hour, true);
    this.changes.push({ op: 'upsert', itemId, sid, title, attributes });
    if (isSpent(campaign)) this.changes.push({ op: 'pause', itemId });
  }

  private end(hour: number): void {
    const grown = [...this.listed.values()].filter(
      ({ sinceHour }) => sinceHour + HOURS_OF_DAY <= hour,
    );
    if (grown.length === 0) return;
    const at = Math.floor(draw(this.seed, DRAW.ending, this.ended) * grown.length);
    this.ended += 1;
    const { item, campaign } = grown[at] as Listed;
    const { itemId, sid } = item;
    this.listed.delete(itemId);
    campaign.items.delete(itemId);
    this.truth.ads.delete(itemId);
    this.free.push({ sid, like: item });
    // An ad of the catalogue file stays known, so that the next world has it again.
    this.changes.push({ op: isNewAd(itemId) ? 'remove' : 'pause', itemId });
  }

  private list(item: WorldItem, sinceHour: number, isFresh: boolean): Listed {
    const campaign = this.campaigns.get(campaignOf(item)) as Campaign;
    campaign.items.add(item.itemId);
    const bid = bidOf(item);
    const counts = { impressions: 0, clicks: 0 };
    const listed = Object.assign(counts, {
      item,
      campaign,
      firstBid: bid,
      bid,
      sinceHour,
      isFresh,
    });
    this.listed.set(item.itemId, listed);
    return listed;
  }
}

const isSpent = ({ spent, budget }: Campaign): boolean => spent >= budget;

const campaignOf = ({ attributes, sid }: WorldItem): string =>
  `${attributes.advertiser ?? ''}/${sid[0]}`;

function bidOf({ attributes }: WorldItem): number {
  const { bid } = attributes;
  return typeof bid === 'number' && bid > 0 ? bid : BID_ELSEWHERE;
}
