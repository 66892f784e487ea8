import { createHash } from 'node:crypto';
import { clauseJson } from '@tessera/catalogue';
import { TesseraError } from '@tessera/errors';
import type { Eligibility, RecallAnswer, RecallRequest } from '@tessera/recall';

/** A recall as it ended, by whatever door it came. */
export interface EndedRecall {
  readonly timeMs: number;
  readonly edge: string;
  readonly request: RecallRequest;
  readonly outcome: RecallAnswer | Error;
}

const ID_DIGITS = 16;
/** A score is rounded to one part of so many: what is below says nothing and takes bytes. */
const SCORE_STEPS = 256;

/** Canonical: members of `all` and `any` in the order of their texts. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(canonical).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, canonical(member)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Allowed items from which on a list is its request's own, and no predicate of many. */
const SHARED_LIST_MAX = 1000;
/** Stands for the predicate of a request that has such a list. */
export const OWN_LIST = 'own-list';

/** The part of an eligibility that many requests share, as text; '' where there is none. */
export function predicateText({ predicate, allowed }: Eligibility): string {
  const parts = {
    ...(predicate && { predicate: canonical(clauseJson(predicate)) }),
    ...(allowed && { allowed: [...allowed].sort() }),
  };
  return predicate === undefined && allowed === undefined ? '' : JSON.stringify(parts);
}

/** ID of a request's eligibility; '' without one. */
export function predicateIdOf(eligibility: Eligibility | undefined): string {
  if ((eligibility?.allowed?.length ?? 0) > SHARED_LIST_MAX) return OWN_LIST;
  const text = eligibility === undefined ? '' : predicateText(eligibility);
  if (text === '') return '';
  return createHash('sha256').update(text).digest('hex').slice(0, ID_DIGITS);
}

const whole = (value: number) => Math.max(0, Math.round(value));

type Worth = Pick<RecallAnswer, 'items' | 'valuation' | 'exploration' | 'ranking' | 'runnerUp'>;

/** A ranking, and what it says of the answer's items. */
function rankingRow({ items, ranking }: Worth) {
  const ranked = ranking === undefined ? [] : items.map((item) => item.ranking);
  const valued = ranking?.valuation === undefined ? [] : ranked;
  return {
    rank_adapter: ranking?.adapter ?? '',
    rank_adapter_name: ranking?.adapterName ?? '',
    rank_valuation: ranking?.valuation?.name ?? '',
    ranked_items: ranking?.items ?? 0,
    rank_left_out: ranking?.leftOut ?? 0,
    item_heads: ranked.map((of) => of?.heads ?? {}),
    rank_values: valued.map((of) => of?.value?.value ?? null),
    recall_ranks: ranked.map((of) => of?.recallRank ?? 0),
  };
}

/** Prices of an answer by value: those of its items, and of the best that it leaves out. */
function priceRow({ items, valuation, runnerUp }: Worth) {
  const bids = items.map(({ value }) => value?.criticalBid ?? null);
  return {
    critical_bids: bids.every((bid) => bid === null) ? [] : bids,
    unpriced: valuation?.noPrices ?? '',
    runner_up: runnerUp?.item ?? '',
    runner_up_value: valuation?.bestLeftOut ?? null,
    runner_up_bid: runnerUp?.bid ?? null,
  };
}

/** Valuation, exploration and ranking of an answer, and by them of its items. */
function worthRow(answered: Worth) {
  const { items, valuation, exploration } = answered;
  const { slots = 0, temperature = 1, seed = 0, noPropensities = '' } = exploration ?? {};
  const isKnown = slots > 0 && items.every(({ propensity }) => propensity !== undefined);
  return {
    valuation: valuation?.name ?? '',
    item_values: items.flatMap(({ value }) => (value === undefined ? [] : [value.value])),
    item_terms: items.flatMap(({ value }) => (value === undefined ? [] : [value.terms])),
    explore_slots: slots,
    explore_temperature: temperature,
    // Beyond 2^53 a number of JSON would be another one.
    explore_seed: String(seed),
    explored: slots === 0 ? [] : items.map(({ explored = false }) => explored),
    propensities: isKnown ? items.map(({ propensity }) => propensity) : [],
    no_propensities: noPropensities,
    ...rankingRow(answered),
    ...priceRow(answered),
  };
}

function answerRow(answered: RecallAnswer) {
  const { versions, timings, kv, items, arm, ...answer } = answered;
  const { device = 0, host = 0, disk = 0 } = kv.tokensByTier;
  return {
    request_id: answer.requestId,
    model: versions.model,
    adapter: versions.adapter,
    adapter_name: versions.adapterName,
    arm: arm ?? 'base',
    catalogue_seq: versions.catalogueSequence,
    template: versions.promptTemplate,
    widths: answer.widthsUsed,
    code: 'OK',
    short: answer.short,
    features_us: whole(timings.featuresUs),
    prompt_us: whole(timings.promptUs),
    queue_us: whole(timings.queueUs),
    prefill_us: whole(timings.prefillUs),
    decode_us: whole(timings.decodeUs),
    total_us: whole(timings.totalUs),
    kv_device: device,
    kv_host: host,
    kv_disk: disk,
    kv_shared: kv.sharedTokens,
    kv_computed: kv.computedTokens,
    item_ids: items.map(({ itemId }) => itemId),
    scores: items.map(({ score }) => Math.round(score * SCORE_STEPS) / SCORE_STEPS),
    ...worthRow(answered),
  };
}

function refusalRow(request: RecallRequest, error: Error) {
  const texts = { model: '', adapter: '', adapter_name: '', arm: '', template: '' };
  const { code } = TesseraError.from(error);
  const nothing = { catalogue_seq: 0, widths: [], short: false, item_ids: [], scores: [] };
  return Object.assign(
    { request_id: request.requestId, code },
    texts,
    nothing,
    worthRow({ items: [] }),
  );
}

/** A recall as a row of `recall_fact`, but for its user. */
export function recallFact(
  { timeMs, edge, request, outcome }: EndedRecall,
  recallId: string,
  node: string,
): object {
  const { scene, catalogue = '', eligibility } = request;
  const predicate_id = predicateIdOf(eligibility);
  const head = { time: timeMs, recall_id: recallId, node, edge, scene, catalogue, predicate_id };
  const ending = outcome instanceof Error ? refusalRow(request, outcome) : answerRow(outcome);
  return Object.assign(head, ending);
}

/** Arm and adapter that answered; '' of a refused recall. */
export const answeredBy = ({ outcome }: EndedRecall) =>
  outcome instanceof Error ? '' : `${outcome.arm ?? ''} ${outcome.versions.adapter}`;

/** IDs in the order of time that differ in few digits, which take few bytes. */
export class RecallIds {
  private last = 0;

  /** @param process 16 random hexadecimal digits */
  constructor(private readonly process: string) {}

  next(timeMs: number): string {
    // Of version 7 (RFC 9562): milliseconds, a counter, random digits of this process.
    this.last = (this.last + 1) % 0x1000;
    const time = timeMs.toString(16).padStart(12, '0');
    const counter = this.last.toString(16).padStart(3, '0');
    const { process } = this;
    const own = `a${process.slice(1, 4)}-${process.slice(4)}`;
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${own}`;
  }
}
