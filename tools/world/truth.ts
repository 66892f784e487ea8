import { DRAW, draw, drawNormal, stream, textKey } from './random.js';

/**
 * How users choose, as trainer/demo_world.py has it: a user has a few favourite categories and
 * topics, half of the clicks stay in the topic of the last one, a category has its times of day,
 * and earlier ads of a topic are liked more. Besides, the liking that all users share of an ad (its
 * appeal), of a topic and of a category moves; a history of one user does not say it. Nor does it
 * say the discounts of the ads that are shown, which everybody likes.
 */

/** Liking of the demo's categories by daypart; trainer/demo_world.py. */
const AFFINITIES: Readonly<Record<string, readonly number[]>> = {
  running: [3.0, 0.8, 0.8, 0.2],
  coffee: [3.0, 1.0, 0.3, 0.2],
  cycling: [1.8, 1.4, 0.6, 0.2],
  office: [1.4, 2.6, 0.4, 0.2],
  gardening: [1.2, 2.4, 0.8, 0.2],
  kitchen: [0.6, 1.0, 2.6, 0.4],
  travel: [0.8, 1.8, 1.4, 0.6],
  films: [0.2, 0.4, 2.6, 2.2],
  games: [0.2, 0.6, 1.8, 3.0],
  music: [0.8, 0.8, 1.6, 1.6],
  skincare: [1.6, 0.6, 1.0, 1.6],
  pets: [1.6, 1.2, 1.4, 0.4],
};
const AFFINITY_ELSEWHERE = [1, 1, 1, 1];

const STAYS_IN_TOPIC = 0.5;
const LIKES_AGAIN = 0.1;
const OTHER_CATEGORY = 0.01;
/** Hours after which a user has another favourite category, and other topics in one, on average. */
const FAVOURITE_HOURS = 96;
const TOPICS_HOURS = 48;
const SEASON_HOURS = 60;
/** Turns the probability that an ad is the next click into that of a click on a shown one. */
const EAGERNESS = 5;
/** Fall of liking with the price: at half of it an ad is liked eleven times as much. */
const ELASTICITY = 3.5;
/** Discount of an ad that is liked as its topic and weight say; percent. */
const USUAL_DISCOUNT = 25;

export interface Drift {
  /** Hours after which a walk keeps 1/e of what it was. */
  readonly hours: number;
  /** Of the logarithm of an ad's appeal, once the drift is stationary. */
  readonly ads: number;
  /** The same of a topic's. */
  readonly topics: number;
  /** Highest logarithm of a category's season. */
  readonly seasons: number;
}

/** An ad as users see it. */
export interface Ad {
  readonly item: string;
  readonly key: number;
  readonly category: number;
  /** Number of the topic among all. */
  readonly topic: number;
  readonly weight: number;
  /** Factor of the liking: its discount. */
  offer: number;
  walk: number;
}

interface Taste {
  /** By category. */
  readonly categories: Float64Array;
  /** By topic; of the topics of a category it sums to 1. */
  readonly topics: Float64Array;
  last: Ad | undefined;
}

export interface Placed {
  readonly item: string;
  readonly sid: readonly number[];
  readonly categoryName: string;
  /** Percent; of ads of other catalogues nothing is known. */
  readonly discount?: unknown;
}

const weightOf = (code: number): number => 1 / Math.sqrt(1 + code);

const offerOf = (discount: unknown): number =>
  typeof discount === 'number' && discount >= 0 && discount < 100
    ? ((100 - USUAL_DISCOUNT) / (100 - discount)) ** ELASTICITY
    : 1;

export class Truth {
  readonly ads = new Map<string, Ad>();
  private readonly categories = new Map<number, number>();
  private readonly affinities: (readonly number[])[] = [];
  private readonly topics = new Map<string, number>();
  /** Of each topic: its category, the weight of its first ads, and its walk. */
  private readonly categoryOfTopic: number[] = [];
  private readonly topicWeights: number[] = [];
  private readonly topicWalks: number[] = [];
  private readonly seasons: number[] = [];
  private readonly users: Taste[];
  private hour = 0;

  constructor(
    private readonly seed: number,
    private readonly drift: Drift,
    items: readonly Placed[],
    userCount: number,
  ) {
    for (const item of items) this.learnPlace(item);
    for (const item of items) {
      const ad = this.add(item, 0);
      this.topicWeights[ad.topic] = (this.topicWeights[ad.topic] ?? 0) + ad.weight;
    }
    this.users = Array.from({ length: userCount }, (_, user) => this.newTaste(user));
    this.moveSeasons();
  }

  /** The ad of a place that another ad had, or has; its walk starts anew. */
  add(item: Placed, walk: number): Ad {
    const [first = 0, second = 0, code = 0] = item.sid;
    const category = this.categories.get(first) ?? 0;
    const topic = this.topics.get(`${first}/${second}`) ?? 0;
    const key = textKey(item.item);
    const [weight, offer] = [weightOf(code), offerOf(item.discount)];
    const ad = { item: item.item, key, category, topic, weight, offer, walk };
    this.ads.set(item.item, ad);
    return ad;
  }

  /** The ad's discount is another. */
  discount(item: string, percent: number): void {
    const ad = this.ads.get(item);
    if (ad !== undefined) ad.offer = offerOf(percent);
  }

  /** One simulated hour later. */
  step(): void {
    this.hour += 1;
    const kept = Math.exp(-1 / this.drift.hours);
    const fresh = Math.sqrt(1 - kept * kept);
    const moved = (walk: number, of: number, key: number) =>
      kept * walk + fresh * drawNormal(this.seed, of, key, this.hour);
    for (const ad of this.ads.values()) ad.walk = moved(ad.walk, DRAW.appeal, ad.key);
    for (const [topic, walk] of this.topicWalks.entries()) {
      this.topicWalks[topic] = moved(walk, DRAW.topic, topic);
    }
    this.moveSeasons();
    for (const [user, taste] of this.users.entries()) this.moveTaste(user, taste);
  }

  /** How much all users like the ad now, 1 on average over time. */
  appeal(ad: Ad): number {
    const { hours, ads, topics } = this.drift;
    // Walks begin at 0, as what the demo's model was trained on: their variance grows to 1.
    const variance = 1 - Math.exp((-2 * this.hour) / hours);
    const ofWalk = (walk: number, of: number) => Math.exp(of * walk - (of * of * variance) / 2);
    const topic = ofWalk(this.topicWalks[ad.topic] ?? 0, topics);
    return ofWalk(ad.walk, ads) * topic * (this.seasons[ad.category] ?? 1);
  }

  /** Probability that a user who looks at the ad clicks it. */
  attraction(user: number, ad: Ad, daypart: number): number {
    const { categories, topics, last } = this.users[user] as Taste;
    let sum = 0;
    for (const [category, liking] of categories.entries()) {
      sum += liking * this.affinity(category, daypart);
    }
    const { category, topic, weight } = ad;
    const liking = ((categories[category] ?? 0) * this.affinity(category, daypart)) / sum;
    const stays =
      last === undefined ? 0 : STAYS_IN_TOPIC * Math.min(1, this.affinity(last.category, daypart));
    const ofTopic =
      (1 - stays) * liking * (topics[topic] ?? 0) + (last?.topic === topic ? stays : 0);
    const again = last?.item === ad.item ? LIKES_AGAIN : 1;
    const next = (ofTopic * weight * again) / (this.topicWeights[topic] ?? 1);
    return 1 - Math.exp(-EAGERNESS * next * ad.offer * this.appeal(ad));
  }

  click(user: number, ad: Ad): void {
    (this.users[user] as Taste).last = ad;
  }

  /** The ad whose topic holds half of a user's next clicks. */
  lastClick(user: number): string | undefined {
    return this.users[user]?.last?.item;
  }

  /** Of each user: liking of categories by first code, of topics by first two. */
  tastes(): { readonly categories: object; readonly topics: object }[] {
    const named = (names: Map<unknown, number>, values: Float64Array) =>
      Object.fromEntries(
        [...names].map(([name, at]) => [name, Number((values[at] ?? 0).toPrecision(4))]),
      );
    return this.users.map(({ categories, topics }) => ({
      categories: named(this.categories, categories),
      topics: named(this.topics, topics),
    }));
  }

  private affinity(category: number, daypart: number): number {
    return this.affinities[category]?.[daypart] ?? 1;
  }

  private learnPlace({ sid, categoryName }: Placed): void {
    const [first = 0, second = 0] = sid;
    let category = this.categories.get(first);
    if (category === undefined) {
      category = this.categories.size;
      this.categories.set(first, category);
      this.affinities.push(AFFINITIES[categoryName] ?? AFFINITY_ELSEWHERE);
    }
    const name = `${first}/${second}`;
    if (this.topics.has(name)) return;
    this.topics.set(name, this.topics.size);
    this.categoryOfTopic.push(category);
    this.topicWalks.push(0);
  }

  private newTaste(user: number): Taste {
    const random = stream(this.seed, DRAW.taste, user);
    const categories = new Float64Array(this.categories.size).fill(OTHER_CATEGORY);
    const count = Math.min(1 + Math.floor(3 * random()), categories.length);
    for (let chosen = 0; chosen < count; ) {
      const category = Math.floor(random() * categories.length);
      if (categories[category] !== OTHER_CATEGORY) continue;
      categories[category] = 0.6 + 0.8 * random();
      chosen += 1;
    }
    const taste = { categories, topics: new Float64Array(this.topics.size), last: undefined };
    for (const category of categories.keys()) this.drawTopics(taste, category, user);
    return taste;
  }

  /** Of Dirichlet(0.5, ...), as halves of squared normals, and a little of each. */
  private drawTopics({ topics }: Pick<Taste, 'topics'>, category: number, user: number): void {
    const own = [...topics.keys()].filter((topic) => this.categoryOfTopic[topic] === category);
    const drawn = own.map((topic) => {
      const normal = drawNormal(this.seed, DRAW.topics, user, topic, this.hour);
      return normal * normal;
    });
    const sum = drawn.reduce((total, each) => total + each, 0);
    const whole = 1 + 0.02 * own.length;
    for (const [at, topic] of own.entries()) {
      topics[topic] = ((drawn[at] as number) / sum + 0.02) / whole;
    }
  }

  private moveTaste(user: number, taste: Taste): void {
    const { categories } = taste;
    const favourites = [...categories.keys()].filter((each) => (categories[each] ?? 0) > 0.1);
    const random = stream(this.seed, DRAW.favourite, user, this.hour);
    const one = favourites[Math.floor(random() * favourites.length)] as number;
    const other = Math.floor(random() * categories.length);
    if (random() < 1 / FAVOURITE_HOURS && !favourites.includes(other)) {
      categories[other] = categories[one] as number;
      categories[one] = OTHER_CATEGORY;
    }
    if (random() < 1 / TOPICS_HOURS) this.drawTopics(taste, one, user);
  }

  private moveSeasons(): void {
    for (const category of this.affinities.keys()) {
      const phase = draw(this.seed, DRAW.category, category);
      const angle = 2 * Math.PI * (this.hour / SEASON_HOURS + phase);
      this.seasons[category] = Math.exp(this.drift.seasons * Math.sin(angle));
    }
  }
}
