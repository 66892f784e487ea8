/** Events of a day, drawn by the seed; pure but for the random numbers that it takes. */

import type { Random } from '../../bench/models/random.js';
import type { Ad, Condition, DayCap, DayModel, SeenEvent } from './day-model.js';

export type DayEvent =
  | { readonly kind: 'begin ads'; readonly ads: readonly Ad[] }
  | { readonly kind: 'end ads'; readonly itemIds: readonly string[] }
  | { readonly kind: 'pause' | 'resume'; readonly itemId: string }
  | { readonly kind: 'change attributes'; readonly ad: Ad }
  | { readonly kind: 'campaign'; readonly condition: Condition; readonly edit: CampaignEdit }
  | { readonly kind: 'behaviours'; readonly events: readonly SeenEvent[] }
  | { readonly kind: 'erase'; readonly userId: string }
  | DayRecall
  | { readonly kind: 'push adapter'; readonly seed: number }
  | { readonly kind: 'roll adapter back' | 'compact' | 'kill' | 'restart' | 'change base' };

export interface DayRecall {
  readonly kind: 'recall';
  readonly userId: string;
  readonly condition?: Condition;
  readonly caps: readonly DayCap[];
}

/** Of all ads that a condition holds for; `raise` moves bids and adds a place. */
export type CampaignEdit =
  | { readonly form: 'pause' | 'resume' }
  | { readonly form: 'raise'; readonly bid: number; readonly place: string };

const BRANDS = ['bread', 'bikes', 'books'] as const;
const PLACES = ['north', 'south', 'east', 'west'] as const;
const LEVEL_CODES = 8;
const ADS_MIN = 40;
const ADS_MAX = 160;
const BIDS = 100;
/** Days after which each of these happens, on the mean. */
const EVERY = {
  campaign: 3,
  erase: 3,
  push: 2,
  rollBack: 12,
  compact: 9,
  kill: 15,
  restart: 20,
  base: 30,
} as const;
const USERS_NEW_SHARE = 0.2;
const EVENTS_OF_A_USER_MAX = 200;
const EVENT_MS = 60_000;
/** How many of the newest events of all users a cap may reach back over. */
const CAPPED_EVENTS = 400;
const CAPS_MAX = 2;

export class DayPlan {
  private ads = 0;
  private users = 0;
  private events = 0;
  private pushes = 0;

  constructor(
    private readonly random: Random,
    private readonly model: DayModel,
    /** Of the first behaviour; they follow by a minute. */
    private readonly firstMs: number,
  ) {}

  /** Events of the next day; each is to be done before the next is taken. */
  *day(): Generator<DayEvent> {
    yield* this.morning();
    for (let visits = 1 + this.random.below(4); visits > 0; visits -= 1) {
      const userId = this.userId();
      yield { kind: 'behaviours', events: this.behaviours(userId) };
      yield this.recall(userId);
    }
    if (this.random.chance(EVERY.campaign)) yield this.campaign();
    if (this.random.chance(EVERY.push)) yield { kind: 'push adapter', seed: ++this.pushes };
    if (this.random.chance(EVERY.rollBack)) yield { kind: 'roll adapter back' };
    if (this.random.chance(EVERY.compact)) yield { kind: 'compact' };
    if (this.random.chance(EVERY.erase)) yield* this.erasure();
    if (this.random.chance(EVERY.kill)) yield { kind: 'kill' };
    if (this.random.chance(EVERY.restart)) yield { kind: 'restart' };
    if (this.random.chance(EVERY.base)) yield { kind: 'change base' };
    yield this.recall(this.userId());
  }

  ad(): Ad {
    this.ads += 1;
    const sid = [0, 0, 0].map(() => this.random.below(LEVEL_CODES));
    return { itemId: `ad ${this.ads}`, sid, isPaused: false, ...this.attributes() };
  }

  private attributes() {
    return {
      brand: this.random.one(BRANDS),
      bid: this.random.below(BIDS),
      places: PLACES.filter(() => this.random.chance(2)),
    };
  }

  private *morning(): Generator<DayEvent> {
    const { size } = this.model.ads;
    const few = 1 + this.random.below(8);
    if (size < ADS_MAX)
      yield { kind: 'begin ads', ads: Array.from({ length: few }, () => this.ad()) };
    if (size > ADS_MIN) {
      const itemIds = new Set(Array.from({ length: few }, () => this.known().itemId));
      yield { kind: 'end ads', itemIds: [...itemIds] };
    }
    const ad = this.known();
    yield { kind: ad.isPaused ? 'resume' : 'pause', itemId: ad.itemId };
    yield { kind: 'change attributes', ad: { ...this.known(), ...this.attributes() } };
  }

  private campaign(): DayEvent {
    const form = this.random.one(['pause', 'resume', 'raise'] as const);
    const condition = this.condition(2);
    if (form !== 'raise') return { kind: 'campaign', condition, edit: { form } };
    const edit = { form, bid: this.random.below(9) - 4, place: this.random.one(PLACES) };
    return { kind: 'campaign', condition, edit };
  }

  private *erasure(): Generator<DayEvent> {
    if (this.model.users.size > 0)
      yield { kind: 'erase', userId: this.random.one([...this.model.users.keys()]) };
  }

  private behaviours(userId: string): SeenEvent[] {
    const last = this.model.users.get(userId)?.at(-1);
    const again = last !== undefined && this.random.chance(4) ? [last] : [];
    const fresh = Array.from({ length: 1 + this.random.below(3) }, () => {
      this.events += 1;
      return {
        userId,
        eventId: `event ${this.events}`,
        itemId: this.known().itemId,
        timeMs: this.firstMs + this.events * EVENT_MS,
      };
    });
    return [...again, ...fresh];
  }

  private recall(userId: string): DayEvent {
    const count = Math.max(0, this.random.below(CAPS_MAX + 3) - 2);
    const caps = Array.from({ length: count }, () => this.cap());
    return this.random.chance(2)
      ? { kind: 'recall', userId, caps }
      : { kind: 'recall', userId, caps, condition: this.condition(2) };
  }

  /** Halfway between two events: a second more or less makes no difference. */
  private cap(): DayCap {
    const since = this.events - this.random.below(CAPPED_EVENTS);
    const attribute = this.random.one(['', 'brand'] as const);
    const maxBehaviours = 1 + this.random.below(attribute === '' ? 2 : 12);
    return { attribute, maxBehaviours, sinceMs: this.firstMs + (since + 0.5) * EVENT_MS };
  }

  private condition(depth: number): Condition {
    const form = this.random.below(depth > 0 ? 6 : 3);
    if (form === 0) return { in: { attribute: 'brand', values: [this.random.one(BRANDS)] } };
    if (form === 1) {
      return {
        contains: {
          attribute: 'places',
          values: [this.random.one(PLACES), this.random.one(PLACES)],
        },
      };
    }
    if (form === 2) {
      const min = this.random.below(BIDS);
      const max = min + this.random.below(BIDS);
      return { range: { attribute: 'bid', min, max } };
    }
    if (form === 3) return { not: this.condition(depth - 1) };
    const predicates = [this.condition(depth - 1), this.condition(depth - 1)];
    return form === 4 ? { all: { predicates } } : { any: { predicates } };
  }

  private userId(): string {
    const { users } = this.model;
    const known = [...users].filter(([, events]) => events.length < EVENTS_OF_A_USER_MAX);
    if (known.length === 0 || this.random.uniform() < USERS_NEW_SHARE) {
      this.users += 1;
      return `user ${this.users}`;
    }
    return this.random.one(known)[0];
  }

  private known(): Ad {
    return this.random.one([...this.model.ads.values()]);
  }
}
