import { type Clause, type Eligibility, NO_ELIGIBILITY, type ScoreNorm } from '@tessera/engine';
import { Random } from '../../models/random.js';
import type { SuiteItem, Taking } from './brute-force.js';

/** Which items a request may get: as the engine is told, and as a function. */
export interface DrawnEligibility {
  readonly request: Eligibility;
  readonly has: (item: SuiteItem) => boolean;
}

/** A recall that is compared with brute force. */
export interface DrawnCase {
  readonly prompt: number;
  readonly norm: ScoreNorm;
  readonly eligibility: number;
  readonly taking: Omit<Taking, 'isEligible'>;
}

const CAMPAIGNS = 30;
const NORMS = ['full', 'level', 'allowed'] as const;
const RESULT_COUNTS = [1, 5, 10, 20, 50, 100, 200];
const ITEMS_PER_SID = [0, 1, 2, 1000];
const PER_CAMPAIGN = [0, 0, 0, 1, 2, 5];

const CLAUSE: Clause = {
  kind: 'all',
  attribute: '',
  values: [],
  min: Number.NEGATIVE_INFINITY,
  max: Number.POSITIVE_INFINITY,
  clauses: [],
};
const clause = (change: Partial<Clause>): Clause => Object.assign({}, CLAUSE, change);
const eligibility = (change: Partial<Eligibility>): Eligibility =>
  Object.assign({}, NO_ELIGIBILITY, change);

const pick = <T>(random: Random, choices: readonly T[]): T =>
  choices[random.below(choices.length)] as T;

/** Attributes of items beside their SID; a few share a priority, and a bid. */
export function drawAttributes(random: Random): Omit<SuiteItem, 'itemId' | 'sid'> {
  return {
    priority: random.below(4),
    campaign: `c${random.below(CAMPAIGNS)}`,
    bid: random.below(50) / 10,
  };
}

function drawnIds(items: readonly SuiteItem[], share: number, random: Random): string[] {
  return items.filter(() => random.uniform() < share).map(({ itemId }) => itemId);
}

function inCampaigns(random: Random, count: number): { request: Clause; names: Set<string> } {
  const names = new Set(Array.from({ length: count }, () => `c${random.below(CAMPAIGNS)}`));
  return { request: clause({ kind: 'in', attribute: 'campaign', values: [...names] }), names };
}

/** Lists and predicates by seed: from nearly all of the catalogue to a few items of it. */
export function drawEligibilities(items: readonly SuiteItem[], seed: number): DrawnEligibility[] {
  const random = new Random(seed);
  const among = (share: number, kind: 'allowed' | 'denied' | 'seen'): DrawnEligibility => {
    const ids = new Set(drawnIds(items, share, random));
    const isIn = ({ itemId }: SuiteItem) => ids.has(itemId);
    const has = kind === 'allowed' ? isIn : (item: SuiteItem) => !isIn(item);
    return { request: eligibility({ [kind]: [...ids] }), has };
  };
  const campaigns = inCampaigns(random, 6);
  const others = inCampaigns(random, 3);
  const leastBid = 4.5;
  const bids = clause({ kind: 'range', attribute: 'bid', min: leastBid });
  const refused = new Set(drawnIds(items, 0.5, random));
  return [
    { request: NO_ELIGIBILITY, has: () => true },
    among(0.3, 'allowed'),
    among(0.01, 'allowed'),
    among(0.2, 'denied'),
    among(0.9, 'seen'),
    {
      request: eligibility({ predicate: campaigns.request }),
      has: ({ campaign }) => campaigns.names.has(campaign),
    },
    {
      request: eligibility({
        predicate: clause({
          kind: 'any',
          clauses: [bids, clause({ kind: 'not', clauses: [others.request] })],
        }),
      }),
      has: ({ bid, campaign }) => bid >= leastBid || !others.names.has(campaign),
    },
    {
      request: eligibility({ predicate: bids, denied: [...refused] }),
      has: ({ bid, itemId }) => bid >= leastBid && !refused.has(itemId),
    },
  ];
}

/** As many cases by seed; those of one eligibility and prompt come together. */
export function drawCases(
  count: number,
  prompts: number,
  eligibilities: number,
  seed: number,
): DrawnCase[] {
  const random = new Random(seed);
  const cases = Array.from(
    { length: count },
    (): DrawnCase => ({
      prompt: random.below(prompts),
      norm: pick(random, NORMS),
      eligibility: random.below(eligibilities),
      taking: {
        resultCount: pick(random, RESULT_COUNTS),
        itemsPerSid: pick(random, ITEMS_PER_SID),
        orderBy: pick(random, ['', '', 'bid']),
        perCampaign: pick(random, PER_CAMPAIGN),
      },
    }),
  );
  return cases.sort((a, b) => a.eligibility - b.eligibility || a.prompt - b.prompt);
}
