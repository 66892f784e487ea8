import { TesseraError } from '@tessera/errors';
import {
  type AppliedChanges,
  type AttributeDeclaration,
  type CatalogueAppraisal,
  type CatalogueBuildReport,
  type CatalogueDigest,
  type CatalogueGeneration,
  type CatalogueHandle,
  type CatalogueLanding,
  type CatalogueListing,
  type CatalogueState,
  type GivenCodebooks,
  type ItemChange,
  PackedWriter,
  type ReachHandle,
  type ValuationUse,
  type ViewHandle,
  writeAttributeDeclarations,
  writeChangeMessage,
  writeGivenCodebooks,
  writeValueRequest,
} from '@tessera/native';
import { addon } from './addon.js';
import {
  type CatalogueSummary,
  type ChangeKeeping,
  type ChangingCatalogue,
  EVERY_ITEM,
  type FlightAttributes,
  type Formula,
  type GivenChange,
  type HeadNumbers,
  type Judgement,
  type ListedItem,
  type LiveItem,
  NO_ITEM,
  type Pace,
  type Reach,
  type ReachRequest,
} from './catalogue.js';
import type { CatalogueView, ViewedItem } from './catalogue-view.js';
import { awaitNative, callNative } from './native-error.js';
import { packReach } from './pack-reach.js';

const NEWEST = -1;
/** About a millisecond's worth: listing runs on the thread that serves. */
const LISTED_AT_ONCE = 128;

export class NativeReach implements Reach {
  constructor(
    /** Seen by NativeEngine alone. */
    readonly handle: ReachHandle,
    readonly sequence: number,
    readonly cappedItems: number,
  ) {}
}

const NO_PATCH = { set: '', unset: [], add: [], take: [], delta: [] };
const NOTHING_GIVEN = {
  sid: [],
  title: '',
  attributes: '',
  priority: 0,
  predicate: undefined,
  vector: new Float32Array(),
};

/** Its three members cross as those of other kinds (native/abi/catalogue.mjs). */
const ofPace = ({ attribute, text, factor }: Pace) => ({
  itemId: text,
  title: attribute,
  priority: factor,
});

const MEMBERS_OF_PACE = { itemId: 'text', title: 'attribute', priority: 'factor' } as const;
const PACE_FAULT = /^changes\[(\d+)\]\.(itemId|title|priority)/;

/** A refusal of a pace names the member as it was given. */
function paceNamed(
  error: TesseraError,
  messages: readonly (readonly GivenChange[])[],
): TesseraError {
  const { code, message, field } = error;
  const [, at = '', member = ''] = PACE_FAULT.exec(message) ?? [];
  if (at === '' || messages.flat()[Number(at)]?.op !== 'set_pace') return error;
  const named = (text: string) =>
    text.replace(`].${member}`, `].${MEMBERS_OF_PACE[member as keyof typeof MEMBERS_OF_PACE]}`);
  return new TesseraError(code, named(message), { field: field && named(field), cause: error });
}

const completed = ({ pace, patch, ...given }: GivenChange): ItemChange => ({
  ...NOTHING_GIVEN,
  ...given,
  ...(pace && ofPace(pace)),
  patch: patch === undefined ? NO_PATCH : { ...NO_PATCH, ...patch },
});

function handleOf(reach: Reach): ReachHandle {
  if (reach instanceof NativeReach) return reach.handle;
  throw new TypeError('reach: expected a native one');
}

function listedItems(listing: CatalogueListing): ListedItem[] {
  return listing.itemIds.map((itemId, i) => ({
    itemId,
    title: listing.titles[i] ?? '',
    attributes: listing.attributes[i] ?? '{}',
    priority: listing.priorities[i] ?? 0,
    isPaused: listing.paused[i] === 1,
    sid: [...listing.sidCodes.subarray(listing.sidOffsets[i], listing.sidOffsets[i + 1])],
  }));
}

const placedItems = (listing: CatalogueListing): LiveItem[] =>
  listedItems(listing).map((item, i) =>
    Object.assign(item, { ordinal: listing.ordinals[i] ?? NO_ITEM }),
  );

function packed<T>(write: (to: PackedWriter, from: T) => void, from: T): Uint32Array {
  const [words, count] = new PackedWriter().record(write, from);
  return words.subarray(0, count);
}

const packChanges = (changes: readonly GivenChange[]) =>
  packed(writeChangeMessage, { changes: changes.map(completed) });

class NativeView implements CatalogueView {
  constructor(private readonly handle: ViewHandle) {}

  find(itemIds: readonly string[]): Uint32Array {
    return callNative(() => addon().catalogueFind(this.handle, itemIds));
  }

  knows(attributes: readonly string[]): Uint32Array {
    return callNative(() => addon().catalogueKnows(this.handle, attributes));
  }

  knowsTexts(attribute: string, texts: readonly string[]): Uint32Array {
    return callNative(() => addon().catalogueKnowsTexts(this.handle, texts, attribute));
  }

  sids(ordinals: Uint32Array): number[][] {
    const { offsets, codes } = callNative(() => addon().catalogueSids(this.handle, ordinals));
    return Array.from(ordinals, (_, i) => [...codes.subarray(offsets[i], offsets[i + 1])]);
  }

  items(ordinals: Uint32Array): ViewedItem[] {
    const { itemIds, titles, attributes, paused } = callNative(() =>
      addon().catalogueItems(this.handle, ordinals),
    );
    return itemIds.map((itemId, i) => ({
      itemId,
      title: titles[i] ?? '',
      attributes: attributes[i] ?? '{}',
      isPaused: paused[i] === 1,
    }));
  }

  get sequence(): number {
    return callNative(() => addon().catalogueItems(this.handle, new Uint32Array())).sequence;
  }
}

/**
 * A snapshot mapped by the addon, and the changes to it. Reads go straight there; nothing is kept
 * in JavaScript.
 */
export class NativeCatalogue implements ChangingCatalogue {
  summary: CatalogueSummary;
  hasFlights = false;
  valuations: readonly Formula[] = [];
  private nowMs = Date.now;
  private flight: FlightAttributes | undefined;

  constructor(
    /** Seen by NativeEngine alone. */
    readonly handle: CatalogueHandle,
  ) {
    this.summary = this.describe();
  }

  private describe(): CatalogueSummary {
    return callNative(() => addon().catalogueInfo(this.handle));
  }

  view(): CatalogueView {
    return new NativeView(callNative(() => addon().catalogueView(this.handle)));
  }

  async reach(request: ReachRequest): Promise<Reach> {
    const { reach, sequence, cappedItems } = await awaitNative(() =>
      addon().catalogueReach(this.handle, ...packReach(request), this.nowMs()),
    );
    return new NativeReach(reach, sequence, cappedItems);
  }

  async judge({
    request,
    itemId,
    sequence = NEWEST,
  }: Parameters<ChangingCatalogue['judge']>[0]): Promise<Judgement> {
    const judged = await awaitNative(() =>
      addon().catalogueJudge(this.handle, ...packReach(request), itemId, sequence, this.nowMs()),
    );
    const { reach, sequence: pinned, cappedItems } = judged;
    return { ...judged, reach: new NativeReach(reach, pinned, cappedItems) };
  }

  async keep({ folder, sync, levelSizes, reserveBytes }: ChangeKeeping): Promise<void> {
    const options = { folder, sync, levelSizes: Uint32Array.from(levelSizes), reserveBytes };
    await awaitNative(() => addon().catalogueKeep(this.handle, options));
    this.summary = this.describe();
  }

  state(): CatalogueState {
    return callNative(() => addon().catalogueState(this.handle));
  }

  whyNotWritten(): string {
    return callNative(() => addon().catalogueWhyNotWritten(this.handle));
  }

  recoverWriting(): Promise<void> {
    return awaitNative(() => addon().catalogueRecover(this.handle));
  }

  async apply(messages: readonly (readonly GivenChange[])[], mark = ''): Promise<AppliedChanges> {
    const packs = messages.map(packChanges);
    return awaitNative(() => addon().catalogueApply(this.handle, packs, mark)).catch(
      (thrown: unknown) => {
        throw paceNamed(TesseraError.from(thrown), messages);
      },
    );
  }

  digest(): Promise<CatalogueDigest> {
    return awaitNative(() => addon().catalogueDigest(this.handle));
  }

  declare(attributes: readonly AttributeDeclaration[]): Promise<readonly string[]> {
    const declarations = [packed(writeAttributeDeclarations, { attributes })];
    return awaitNative(() => addon().catalogueDeclare(this.handle, declarations));
  }

  quantiseBy(codebooks: GivenCodebooks): Promise<void> {
    const messages = [packed(writeGivenCodebooks, codebooks)];
    return awaitNative(() => addon().catalogueQuantiseBy(this.handle, messages));
  }

  landing(vector: Float32Array, neighbours: number): Promise<CatalogueLanding> {
    return awaitNative(() => addon().catalogueLanding(this.handle, vector, neighbours));
  }

  isInFlight(attributes: string): boolean {
    if (this.flight === undefined) return true;
    const found = JSON.parse(attributes) as Record<string, unknown>;
    const timeOf = (name: string, none: number) => {
      const value = found[name];
      return typeof value === 'number' ? value : none;
    };
    const { begin, end } = this.flight;
    const nowMs = this.nowMs();
    return timeOf(begin, 0) <= nowMs && nowMs < timeOf(end, Number.POSITIVE_INFINITY);
  }

  fly({ begin, end }: FlightAttributes, nowMs: () => number): void {
    callNative(() => addon().catalogueFly(this.handle, begin, end));
    this.nowMs = nowMs;
    this.hasFlights = true;
    this.flight = { begin, end };
  }

  async valueBy(valuations: readonly Formula[]): Promise<void> {
    const words = packed(writeValueRequest, { valuations });
    await awaitNative(() => addon().catalogueValue(this.handle, words, words.length));
    this.valuations = valuations;
  }

  compact(): Promise<number> {
    return awaitNative(() => addon().catalogueCompact(this.handle));
  }

  *listItems(reach: Reach): Generator<readonly ListedItem[]> {
    const handle = handleOf(reach);
    let first = 0;
    do {
      const at = first;
      const listing = callNative(() => addon().catalogueList(handle, at, LISTED_AT_ONCE));
      first = listing.next;
      yield listedItems(listing);
    } while (first > 0);
  }

  firstObtainable(reach: Reach, itemIds: readonly string[], count: number): readonly LiveItem[] {
    const handle = handleOf(reach);
    return placedItems(callNative(() => addon().catalogueFirstObtainable(handle, itemIds, count)));
  }

  liveItems(reach: Reach, itemIds: readonly string[]): readonly LiveItem[] {
    const handle = handleOf(reach);
    return placedItems(callNative(() => addon().catalogueLiveItems(handle, itemIds)));
  }

  appraise(
    reach: Reach,
    itemIds: readonly string[],
    by?: ValuationUse,
    heads?: HeadNumbers,
  ): CatalogueAppraisal {
    const [words, count] = packReach({ ...EVERY_ITEM, valuation: by });
    return callNative(() =>
      addon().catalogueAppraise(
        handleOf(reach),
        itemIds,
        words,
        count,
        heads?.names,
        heads?.numbers,
      ),
    );
  }

  excludedItems(reach: Reach): Promise<number> {
    return awaitNative(() => addon().catalogueExcluded(handleOf(reach)));
  }

  generations(): Promise<readonly CatalogueGeneration[]> {
    return awaitNative(() => addon().catalogueVersions(this.handle));
  }

  rollBack(sequence: number): Promise<number> {
    return awaitNative(() => addon().catalogueRollBack(this.handle, sequence));
  }

  close(): void {
    callNative(() => addon().catalogueClose(this.handle));
  }
}

/** Maps and checks a snapshot file. Rejects with CATALOGUE_NOT_FOUND or CATALOGUE_CORRUPT. */
export async function openCatalogue(path: string): Promise<ChangingCatalogue> {
  return new NativeCatalogue(await awaitNative(() => addon().catalogueOpen(path)));
}

export interface CatalogueSourceFile {
  /** index.json, sid2pid.json, JSON lines or an existing snapshot; its content decides. */
  readonly path: string;
  /** Domain given to all items of the file; '' for none. */
  readonly domain: string;
}

export interface CatalogueBuild {
  readonly sources: readonly CatalogueSourceFile[];
  /** Titles file (JSON or TSV); '' for none. */
  readonly titlesPath: string;
  /** Codes per level; empty: derived from the items. */
  readonly levelSizes: readonly number[];
  readonly outputPath: string;
}

/** Called as a build goes on; `done` of `total` units of the stage. */
export type BuildProgress = (stage: string, done: number, total: number) => void;

/**
 * Builds a snapshot file off this thread. Rejects with CATALOGUE_INVALID, CATALOGUE_NOT_FOUND or
 * IO_FAILED; the output is untouched then.
 */
export async function buildCatalogue(
  build: CatalogueBuild,
  onProgress: BuildProgress,
): Promise<CatalogueBuildReport> {
  return awaitNative(() =>
    addon().catalogueBuild(
      {
        sources: build.sources.map((source) => source.path),
        domains: build.sources.map((source) => source.domain),
        titlesPath: build.titlesPath,
        levelSizes: Uint32Array.from(build.levelSizes),
        outputPath: build.outputPath,
      },
      onProgress,
    ),
  );
}
