import type { GivenChange, Reach, ReachRequest, Valuation } from '@tessera/engine';
import { Random } from '../../models/random.js';
import { compareSids, type SuiteItem } from '../search/brute-force.js';
import type { SearchModel } from '../search/search-model.js';

const NONE = Number.NEGATIVE_INFINITY;
const CHANGES_AT_ONCE = 4096;

const term = (change: Partial<Valuation['terms'][number]>): Valuation['terms'][number] =>
  Object.assign(
    {
      name: 'bid',
      attribute: 'bid',
      function: 'log' as const,
      weight: 1,
      min: NONE,
      max: Number.POSITIVE_INFINITY,
      byDefault: Number.NaN,
    },
    change,
  );
const valuation = (change: Partial<Valuation>): Valuation =>
  Object.assign(
    {
      name: 'ecpm',
      scoreWeight: 1,
      terms: [term({})],
      headTerms: [],
      floor: NONE,
      bid: 'bid',
      pace: 'campaign',
    },
    change,
  );

/** Valuations that the suite asks by: the usual one, and odd ones. */
export const VALUATIONS: readonly Valuation[] = [
  valuation({}),
  valuation({
    name: 'soft',
    scoreWeight: 0.5,
    terms: [term({ function: 'log1p', weight: 0.7, byDefault: 0.5 })],
    pace: '',
  }),
  valuation({
    name: 'mixed',
    terms: [
      term({ weight: 0.4 }),
      term({ name: 'cost', function: 'identity', weight: -0.2 }),
      term({ name: 'kept', function: 'clamp', weight: 0.3, min: 0.5, max: 2, byDefault: 1 }),
    ],
  }),
  valuation({ name: 'floored', floor: -9 }),
];

/** An item that a valuation does not exclude. */
export interface ValuedItem {
  readonly item: SuiteItem;
  readonly score: number;
  readonly value: number;
}

/** How an answer is made of valued items (docs/concepts/value.md). */
export interface ValueTaking {
  readonly resultCount: number;
  readonly itemsPerSid: number;
  readonly perCampaign: number;
}

/** A model of the search suite whose items have bids that change, and what they are worth. */
export class ValuedModel {
  private readonly bids = new Map<string, number | undefined>();
  private readonly paces = new Map<string, number>();

  private constructor(
    readonly model: SearchModel,
    private readonly random: Random,
  ) {}

  static async of(model: SearchModel, seed: number, sigma: number): Promise<ValuedModel> {
    const valued = new ValuedModel(model, new Random(seed));
    await model.catalogue.valueBy(VALUATIONS);
    await valued.drawBids(model.items, sigma);
    return valued;
  }

  bidOf = ({ itemId }: SuiteItem): number | undefined => this.bids.get(itemId);

  /** Log-normal, rounded so that some are equal; a few are negative, a few items have none. */
  drawBids(items: readonly SuiteItem[], sigma: number, isClean = false): Promise<void> {
    const draw = (): number | undefined => {
      const odd = isClean ? 100 : this.random.below(100);
      if (odd < 3) return undefined;
      const normal = this.random.normal();
      return (odd < 5 ? -1 : 1) * Math.round(100 * Math.exp(sigma * normal) + 1) * 0.01;
    };
    return this.setBids(items.map((item) => [item, draw()] as const));
  }

  async setBids(bids: readonly (readonly [SuiteItem, number | undefined])[]): Promise<void> {
    const changes = bids.map(([{ itemId, campaign }, bid]): GivenChange => {
      this.bids.set(itemId, bid);
      return { op: 'set_attributes', itemId, attributes: JSON.stringify({ campaign, bid }) };
    });
    for (let at = 0; at < changes.length; at += CHANGES_AT_ONCE) {
      await this.model.catalogue.apply([changes.slice(at, at + CHANGES_AT_ONCE)]);
    }
  }

  async setPace(text: string, factor: number): Promise<void> {
    this.paces.set(text, factor);
    const pace = { attribute: 'campaign', text, factor };
    await this.model.catalogue.apply([[{ op: 'set_pace', itemId: '', pace }]]);
  }

  reach(name: string, eligibility: ReachRequest['eligibility'], perCampaign = 0): Promise<Reach> {
    const diversity = perCampaign === 0 ? [] : [{ attribute: 'campaign', maxItems: perCampaign }];
    const itemPolicy = { orderBy: '', diversity };
    const own = { name, scoreWeight: Number.NaN, floor: Number.NaN, weights: [] };
    return this.model.reach({ eligibility, itemPolicy, valuation: own });
  }

  /** Of an item under a valuation, without its score; undefined: excluded. */
  sumOf(one: Valuation, item: SuiteItem): number | undefined {
    let sum = 0;
    for (const { name, function: f, weight, min, max, byDefault } of one.terms) {
      let x = this.bidOf(item) ?? byDefault;
      const factor = this.paces.get(item.campaign) ?? 1;
      if (name === one.bid && one.pace !== '' && x > 0) x *= factor;
      const ofBid = {
        identity: x,
        log: x > 0 ? Math.log(x) : Number.NaN,
        log1p: Math.log1p(x),
        clamp: Math.min(Math.max(x, min), max),
      }[f];
      sum += weight * ofBid;
    }
    return Number.isNaN(sum) ? undefined : Math.fround(sum);
  }

  /** Every item that may be had, best first. `scores` are those of the SIDs, in their order. */
  valued(
    one: Valuation,
    scores: readonly number[],
    has: (item: SuiteItem) => boolean,
  ): ValuedItem[] {
    const weight = Math.fround(one.scoreWeight);
    const found: ValuedItem[] = [];
    for (const [at, group] of this.model.sids.entries()) {
      const score = scores[at] as number;
      for (const item of group.filter(has)) {
        const sum = this.sumOf(one, item);
        if (sum === undefined) continue;
        const value = Math.fround(Math.fround(weight * score) + sum);
        if (value >= one.floor) found.push({ item, score, value });
      }
    }
    return found.sort((a, b) => b.value - a.value || inOrder(a.item, b.item));
  }
}

function inOrder(a: SuiteItem, b: SuiteItem): number {
  const bySid = compareSids(a.sid, b.sid);
  if (bySid !== 0) return bySid;
  if (a.priority !== b.priority) return b.priority - a.priority;
  return a.itemId < b.itemId ? -1 : 1;
}

/** The items of an answer, under its caps. */
export function takeValued(valued: readonly ValuedItem[], taking: ValueTaking): ValuedItem[] {
  const ofSid = new Map<string, number>();
  const ofCampaign = new Map<string, number>();
  const taken: ValuedItem[] = [];
  for (const one of valued) {
    if (taken.length === taking.resultCount) break;
    const sid = one.item.sid.join();
    const bySid = ofSid.get(sid) ?? 0;
    const byCampaign = ofCampaign.get(one.item.campaign) ?? 0;
    if (taking.itemsPerSid > 0 && bySid >= taking.itemsPerSid) continue;
    if (taking.perCampaign > 0 && byCampaign >= taking.perCampaign) continue;
    ofSid.set(sid, bySid + 1);
    ofCampaign.set(one.item.campaign, byCampaign + 1);
    taken.push(one);
  }
  return taken;
}
