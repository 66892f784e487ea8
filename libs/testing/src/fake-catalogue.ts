import { createHash } from 'node:crypto';
import {
  type AppliedChanges,
  type Catalogue,
  type CatalogueAppraisal,
  type CatalogueDigest,
  type CatalogueGeneration,
  type CatalogueLanding,
  type CatalogueState,
  type CatalogueSummary,
  type CatalogueView,
  type ChangingCatalogue,
  type Formula,
  type GivenChange,
  type HeadNumbers,
  type Judgement,
  type ListedItem,
  type LiveItem,
  NO_ITEM,
  type Reach,
  type ReachRequest,
  type ValuationUse,
  type ViewedItem,
} from '@tessera/engine';
import { TesseraError } from '@tessera/errors';

export interface FakeItem {
  readonly itemId: string;
  readonly sid: readonly number[];
  readonly title?: string;
  readonly attributes?: string;
}

export interface FakeReach extends Reach {
  readonly denied: readonly string[];
  /** Left out: items go by their score. */
  readonly valuation?: ReachRequest['valuation'];
}

/** A catalogue in memory, its own only version; the ordinal of an item is its place in the list. */
export class FakeCatalogue implements Catalogue, CatalogueView {
  readonly summary: CatalogueSummary;
  closed = false;
  hasFlights = false;
  valuations: readonly Formula[] = [];
  private readonly ordinals: ReadonlyMap<string, number>;

  constructor(readonly list: readonly FakeItem[]) {
    this.ordinals = new Map(list.map((item, ordinal) => [item.itemId, ordinal]));
    const depth = Math.max(0, ...list.map((item) => item.sid.length));
    const levelSizes = Array.from(
      { length: depth },
      (_, level) => 1 + Math.max(...list.map((item) => item.sid[level] ?? 0)),
    );
    this.summary = {
      digest: 'fake-catalogue',
      depth,
      levelSizes,
      levelPatterns: levelSizes.map(() => ''),
      pathCount: new Set(list.map((item) => item.sid.join(','))).size,
      itemCount: list.length,
      fileBytes: 0,
    };
  }

  state(): CatalogueState {
    return {
      sequence: 0,
      mark: '',
      baseDigest: this.summary.digest,
      liveItemCount: this.summary.itemCount,
      changedItemCount: 0,
      changesSinceSnapshot: 0,
      snapshotItemCount: this.summary.itemCount,
      replayedChanges: 0,
      cutBytes: 0,
    };
  }

  view(): this {
    return this;
  }

  find(itemIds: readonly string[]): Uint32Array {
    return Uint32Array.from(itemIds, (itemId) => this.ordinals.get(itemId) ?? NO_ITEM);
  }

  knows(attributes: readonly string[]): Uint32Array {
    const items = [...this.ordinals.values()].map(
      (ordinal) => JSON.parse(this.at(ordinal).attributes ?? '{}') as object,
    );
    return Uint32Array.from(attributes, (name) => Number(items.some((item) => name in item)));
  }

  knowsTexts(attribute: string, texts: readonly string[]): Uint32Array {
    const had = [...this.ordinals.values()].flatMap((ordinal) => {
      const own: Record<string, unknown> = JSON.parse(this.at(ordinal).attributes ?? '{}');
      return own[attribute] ?? [];
    });
    return Uint32Array.from(texts, (text) => Number(had.length === 0 || had.includes(text)));
  }

  sids(ordinals: Uint32Array): number[][] {
    return Array.from(ordinals, (ordinal) => [...this.at(ordinal).sid]);
  }

  items(ordinals: Uint32Array): ViewedItem[] {
    return Array.from(ordinals, (ordinal) => {
      const { itemId, title = '', attributes = '{}' } = this.at(ordinal);
      return { itemId, title, attributes, isPaused: false };
    });
  }

  get sequence(): number {
    return this.state().sequence;
  }

  /** Knows `denied`, and caps of items, alone. */
  async reach({ eligibility, valuation }: ReachRequest): Promise<FakeReach> {
    const { denied, caps } = eligibility;
    const capped = caps.flatMap(({ itemIds, behaviours, maxBehaviours }) =>
      itemIds.filter((_, i) => (behaviours[i] ?? 0) >= maxBehaviours),
    );
    const cappedItems = new Set(capped.filter((itemId) => this.ordinals.has(itemId))).size;
    return { sequence: 0, denied: [...denied, ...capped], cappedItems, valuation };
  }

  firstObtainable(reach: Reach, itemIds: readonly string[], count: number): LiveItem[] {
    const { denied } = reach as FakeReach;
    const obtainable = itemIds.filter((id) => this.ordinals.has(id) && !denied.includes(id));
    return this.liveItems(reach, obtainable.slice(0, count));
  }

  liveItems(_reach: Reach, itemIds: readonly string[]): LiveItem[] {
    const ordinals = this.find(itemIds.filter((id) => this.ordinals.has(id)));
    const sids = this.sids(ordinals);
    return this.items(ordinals).map((item, i) =>
      Object.assign(
        { ordinal: ordinals[i] ?? NO_ITEM, sid: sids[i] ?? [], priority: 0, isPaused: false },
        item,
      ),
    );
  }

  /** Knows `denied` alone; every item of the list is live. */
  async judge({
    request,
    itemId,
    sequence,
  }: Parameters<Catalogue['judge']>[0]): Promise<Judgement> {
    if (sequence !== undefined && sequence !== this.state().sequence) {
      throw new TesseraError('CATALOGUE_NOT_FOUND', `version ${sequence} is not kept`);
    }
    const reach = await this.reach(request);
    const item = this.ordinals.get(itemId) ?? NO_ITEM;
    const nothing = { clause: '', notLiveSince: 0 };
    if (item === NO_ITEM) return { ...nothing, reach, item, verdict: 'not-in-catalogue', sid: [] };
    const sid = [...this.at(item).sid];
    return reach.denied.includes(itemId)
      ? { ...nothing, reach, item, verdict: 'not-eligible', clause: 'denied', sid }
      : { ...nothing, reach, item, verdict: 'open', sid };
  }

  /** Knows the attribute `bid` alone, and of terms of heads the functions identity and log. */
  appraise(
    reach: Reach,
    itemIds: readonly string[],
    by?: ValuationUse,
    heads?: HeadNumbers,
  ): CatalogueAppraisal {
    const use = by ?? (reach as FakeReach).valuation;
    const { name = '', floor = NaN, weights = [] } = use ?? {};
    const weightOf = (term: string, own: number) =>
      weights.find((each) => each.term === term)?.weight ?? own;
    const bids = itemIds.map((itemId) => {
      const { attributes = '{}' } = this.list[this.ordinals.get(itemId) ?? NO_ITEM] ?? {};
      const { bid = Number.NaN } = JSON.parse(attributes) as { bid?: number };
      return bid * weightOf('bid', 1);
    });
    const { headTerms = [] } = this.valuations.find((one) => one.name === name) ?? {};
    const ofHeads = bids.map((_, index) =>
      (heads ? headTerms : []).map((term) => {
        const at = index * (heads?.names.length ?? 0) + (heads?.names.indexOf(term.head) ?? 0);
        const number = heads?.numbers[at] ?? Number.NaN;
        const weight = weightOf(term.name, term.weight);
        return weight === 0 ? 0 : weight * (term.function === 'log' ? Math.log(number) : number);
      }),
    );
    const sumOf = (terms: readonly number[]) => terms.reduce((sum, term) => sum + term, 0);
    return {
      scoreWeight: 1,
      floor: Number.isNaN(floor) ? Number.NEGATIVE_INFINITY : floor,
      bid: 0,
      names: ['bid', ...(heads ? headTerms : []).map((term) => term.name)],
      terms: Float64Array.from(bids.flatMap((bid, index) => [bid, ...(ofHeads[index] ?? [])])),
      headSums: Float64Array.from(heads ? ofHeads.map(sumOf) : []),
      paces: Float64Array.from(bids, () => 1),
      sums: Float32Array.from(bids, (bid) => (Number.isNaN(bid) ? Number.NEGATIVE_INFINITY : bid)),
    };
  }

  async excludedItems(reach: Reach): Promise<number> {
    const { sums } = this.appraise(reach, [...this.ordinals.keys()]);
    return sums.filter((sum) => sum === Number.NEGATIVE_INFINITY).length;
  }

  close(): void {
    this.closed = true;
  }

  private at(ordinal: number): FakeItem {
    const item = this.list[ordinal];
    if (item !== undefined) return item;
    throw new TesseraError('REQUEST_INVALID', `ordinal ${ordinal} is out of range`);
  }
}

/**
 * Takes changes and numbers them, one for what a predicate matches; an item called `wrong` is
 * refused. Keeps the changes, and the newest mark.
 */
export class FakeChangingCatalogue extends FakeCatalogue implements ChangingCatalogue {
  readonly applied: unknown[] = [];
  compactions = 0;
  mark = '';

  async keep(): Promise<void> {}

  async declare(): Promise<readonly string[]> {
    return [];
  }

  async quantiseBy(): Promise<void> {}

  async valueBy(valuations: readonly Formula[]): Promise<void> {
    this.valuations = valuations;
  }

  /** Every vector goes to the first item's SID, which has room. */
  async landing(vector: Float32Array, neighbours: number): Promise<CatalogueLanding> {
    const [{ itemId = '', sid = [], title = '' } = {}] = this.list;
    const shown = neighbours > 0;
    return {
      sequence: this.applied.length,
      codes: sid,
      distances: Float64Array.from(sid, () => vector.length),
      sid,
      itemIds: shown ? [itemId] : [],
      titles: shown ? [title] : [],
      sidOffsets: Uint32Array.from(shown ? [0, sid.length] : [0]),
      sidCodes: Uint32Array.from(shown ? sid : []),
      sharedLevels: Uint32Array.from(shown ? [sid.length] : []),
    };
  }

  fly(): void {
    this.hasFlights = true;
  }

  isInFlight(): boolean {
    return true;
  }

  whyNotWritten(): string {
    return '';
  }

  async recoverWriting(): Promise<void> {}

  override state(): CatalogueState {
    const { length } = this.applied;
    return {
      ...super.state(),
      sequence: length,
      mark: this.mark,
      changedItemCount: length,
      changesSinceSnapshot: length,
    };
  }

  async apply(messages: readonly (readonly GivenChange[])[], mark = ''): Promise<AppliedChanges> {
    if (messages.length === 0) {
      throw new TesseraError('REQUEST_INVALID', 'messages: expected one at least, got none');
    }
    const batch = messages.flat();
    const wrong = batch.findIndex((change) => change.itemId === 'wrong');
    if (wrong >= 0) {
      const field = `changes[${wrong}].sid`;
      throw new TesseraError('CATALOGUE_INVALID', `${field}: expected another`, { field });
    }
    this.applied.push(...batch);
    if (mark !== '') this.mark = mark;
    const matched = batch.filter(({ predicate }) => predicate !== undefined).map(() => 1);
    const changeCount = batch.length;
    return {
      sequence: this.applied.length,
      changeCount,
      matched: Uint32Array.from(matched),
      paced: Uint32Array.from(
        batch.filter(({ op }) => op === 'set_pace'),
        () => 1,
      ),
      unvalued: [],
      placed: { offsets: Uint32Array.of(0), codes: new Uint32Array() },
    };
  }

  /** Digest of the changes, in their order: equal for two that were given the same. */
  async digest(): Promise<CatalogueDigest> {
    const { sequence, mark } = this.state();
    const content = JSON.stringify([this.list, this.applied]);
    const digest = createHash('sha256').update(content).digest('hex').slice(0, 32);
    return { sequence, mark, digest };
  }

  async compact(): Promise<number> {
    this.compactions += 1;
    return this.applied.length;
  }

  *listItems(): Generator<readonly ListedItem[]> {
    yield this.list.map(({ itemId, sid, title = '', attributes = '{}' }) => ({
      itemId,
      sid,
      title,
      attributes,
      priority: 0,
      isPaused: false,
    }));
  }

  async generations(): Promise<CatalogueGeneration[]> {
    const { sequence, baseDigest } = this.state();
    return [{ firstSequence: 0, lastSequence: sequence, logBytes: 64, baseDigest }];
  }

  async rollBack(sequence: number): Promise<number> {
    if (sequence > this.applied.length) {
      throw new TesseraError('CATALOGUE_NOT_FOUND', `version ${sequence} is not kept`);
    }
    return this.applied.length + 1;
  }
}
