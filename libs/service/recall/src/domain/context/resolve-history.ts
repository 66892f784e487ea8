import type { Behaviour, BehaviourStore, Popularity } from '@tessera/behaviour';
import { type Catalogue, type CatalogueView, NO_ITEM } from '@tessera/engine';
import type { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type { CompiledTemplate, PromptItem, PromptTemplate } from '@tessera/prompt';
import type { Fallback } from '../answer/answer-types.js';
import { invalid } from '../request/check-source.js';
import type { UserSource } from '../request/request-types.js';

/** The history, profile and counts that a prompt is made of. */
export interface ResolvedHistory {
  /** Oldest first. */
  readonly items: readonly PromptItem[];
  /** IDs of the items, in the same order. */
  readonly itemIds: readonly string[];
  readonly profile: Readonly<Record<string, string>>;
  /** Items that the catalogue does not know, or whose codes have no token. */
  readonly skippedItems: number;
  /** Oldest behaviours left out so that the history begins where it did before. */
  readonly trimmedItems: number;
  /** All that were read of a user, oldest first; undefined: the store did not answer. */
  readonly behaviours: readonly Behaviour[] | undefined;
  readonly fallback: Fallback;
}

interface Given {
  readonly itemIds: readonly string[];
  readonly actions: readonly string[];
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly profile: Readonly<Record<string, string>>;
  /** Leave unknown items out rather than refuse the request. */
  readonly skipUnknown: boolean;
  readonly trimmedItems: number;
  readonly behaviours: readonly Behaviour[] | undefined;
  readonly fallback: Fallback;
}

export interface HistoryParts {
  readonly catalogue: Catalogue;
  /** Catalogues, in this order, to look up items that the first one does not know. */
  readonly otherCatalogues?: readonly Catalogue[] | undefined;
  readonly template: CompiledTemplate;
  readonly behaviours: BehaviourStore;
  readonly erasures?: Pick<Erasures, 'isErasing'> | undefined;
  readonly historyItemsMax: number;
  readonly historyTrimPercent: number;
  readonly profileKeys: readonly string[];
  /** How a user's request is met while the store does not answer; left out: refused. */
  readonly withoutFeatures?: 'refuse' | 'answer';
  /** How a request without any known history is met; left out: answered. */
  readonly withoutHistory?: 'refuse' | 'answer' | 'popular';
  /** Answers users without history; left out: nobody's. */
  readonly popularity?: Popularity | undefined;
}

/**
 * The history as SIDs. Items of a known user that have left the catalogue are always left out:
 * behaviours outlive ads. Items of an explicit history are left out where the request says so. Of a
 * user without history, new or with ads that have all ended, profile and scene are what the prompt
 * is made of, and the answer says `no-history`.
 * @param budgetMs that the request has left
 * @throws TesseraError USER_NOT_FOUND, ITEM_NOT_FOUND or REQUEST_INVALID with the field's path
 */
export async function resolveHistory(
  request: UserSource,
  parts: HistoryParts,
  budgetMs: number,
): Promise<ResolvedHistory> {
  const given = await givenBy(request, parts, budgetMs);
  const found = lookUp(parts, given.itemIds);
  const unknown = found.indexOf(undefined);
  if (!given.skipUnknown && unknown >= 0) refuseUnknown(given.itemIds, unknown);
  const items: PromptItem[] = [];
  const itemIds: string[] = [];
  found.forEach((item, index) => {
    if (item === undefined) return;
    if (parts.template.canWrite(item.sid)) {
      const [action, time] = [given.actions[index] ?? '', given.times[index] ?? 0];
      items.push({ ...item, action, time });
      itemIds.push(given.itemIds[index] as string);
    } else if (!given.skipUnknown) {
      refuseUnwritable(index, given.itemIds[index] as string, item.sid);
    }
  });
  const { profile, trimmedItems, behaviours } = given;
  const isEmpty = items.length === 0 && given.fallback === '';
  if (isEmpty && refusesEmpty(request, parts)) refuseEmpty(request, given);
  const hasPopular = parts.popularity !== undefined && parts.popularity.itemCount > 0;
  const instead = hasPopular ? 'popular' : 'no-history';
  const fallback = isEmpty ? instead : given.fallback;
  const skippedItems = given.itemIds.length - items.length;
  return { items, itemIds, profile, skippedItems, trimmedItems, behaviours, fallback };
}

async function givenBy(request: UserSource, parts: HistoryParts, budgetMs: number): Promise<Given> {
  if (request.history !== undefined) {
    const { history, profile, skipUnknownItems } = request;
    const none = { actions: [], times: [], trimmedItems: 0, behaviours: [], fallback: '' } as const;
    return { ...none, itemIds: history, profile, skipUnknown: skipUnknownItems };
  }
  const userId = request.userId as string;
  const user = await userOf(userId, request, parts, budgetMs);
  const none = { itemIds: [], actions: [], times: [], skipUnknown: true, trimmedItems: 0 };
  if (user === 'unavailable') {
    return { ...none, behaviours: undefined, profile: request.profile, fallback: 'no-features' };
  }
  if (user === null) {
    const { profile } = request;
    if (!refusesEmpty(request, parts)) return { ...none, behaviours: [], profile, fallback: '' };
    throw new TesseraError('USER_NOT_FOUND', `userId: user '${userId}' is not known`, {
      field: 'userId',
    });
  }
  const { behaviours, profile } = user;
  const stored = Object.entries(profile).filter(([key]) => parts.profileKeys.includes(key));
  // The store gives no more than this many, so there may be older ones that were cut off.
  const isCut = behaviours.length >= parts.historyItemsMax;
  const trimmedItems = isCut ? stableStart(behaviours, parts.historyTrimPercent) : 0;
  const shown = behaviours.slice(trimmedItems);
  return {
    itemIds: shown.map((behaviour) => behaviour.itemId),
    actions: shown.map((behaviour) => behaviour.action),
    times: shown.map((behaviour) => behaviour.time),
    profile: { ...Object.fromEntries(stored), ...request.profile },
    skipUnknown: true,
    trimmedItems,
    behaviours,
    fallback: '',
  };
}

/** @throws TesseraError STORE_UNAVAILABLE where nothing can be answered without the store */
async function userOf(
  userId: string,
  { requiresHistory }: UserSource,
  parts: HistoryParts,
  budgetMs: number,
) {
  const { behaviours, historyItemsMax, withoutFeatures, template } = parts;
  try {
    if (parts.erasures?.isErasing(userId)) {
      throw new TesseraError('STORE_UNAVAILABLE', 'userId: expected a user, got one being erased');
    }
    return await behaviours.user(userId, historyItemsMax, budgetMs);
  } catch (thrown) {
    const isAway = TesseraError.from(thrown).code === 'STORE_UNAVAILABLE';
    const isAnswered = withoutFeatures === 'answer' && requiresHistory !== true;
    if (isAway && isAnswered && showsMore(template.template)) return 'unavailable';
    throw thrown;
  }
}

/** True if a prompt says something of a user without history. */
function showsMore({ segments }: PromptTemplate): boolean {
  return segments.some((segment) => segment.kind === 'profile' || segment.kind === 'scene');
}

type Found = Pick<PromptItem, 'sid' | 'domain'>;

/** Each item as the first catalogue has it that knows it. */
function lookUp(parts: HistoryParts, itemIds: readonly string[]): (Found | undefined)[] {
  const found: (Found | undefined)[] = itemIds.map(() => undefined);
  const wantsDomains = usesDomains(parts.template.template);
  for (const catalogue of [parts.catalogue, ...(parts.otherCatalogues ?? [])]) {
    const missing = [...found.keys()].filter((index) => found[index] === undefined);
    if (missing.length === 0) break;
    const view = catalogue.view();
    const ordinals = view.find(missing.map((index) => itemIds[index] as string));
    const known = missing.filter((_, i) => ordinals[i] !== NO_ITEM);
    const own = ordinals.filter((ordinal) => ordinal !== NO_ITEM);
    const domains = wantsDomains ? domainsOf(view, own) : [];
    view.sids(own).forEach((sid, i) => {
      found[known[i] as number] = { sid, domain: domains[i] ?? '' };
    });
  }
  return found;
}

/** The domain of each item, from its attributes. */
function domainsOf(view: CatalogueView, ordinals: Uint32Array): readonly string[] {
  return view.items(ordinals).map(({ attributes }) => {
    const { domain } = JSON.parse(attributes) as { domain?: unknown };
    return typeof domain === 'string' ? domain : '';
  });
}

function usesDomains({ itemPrefix, itemSuffix, segments }: PromptTemplate): boolean {
  return (
    typeof itemPrefix !== 'string' ||
    typeof itemSuffix !== 'string' ||
    segments.some((segment) => segment.kind === 'history' && segment.domains !== undefined)
  );
}

function refusesEmpty({ requiresHistory }: UserSource, { withoutHistory }: HistoryParts): boolean {
  return requiresHistory ?? withoutHistory === 'refuse';
}

function refuseEmpty(request: UserSource, { itemIds }: Given): never {
  if (request.history !== undefined) {
    throw invalid(
      'history',
      'at least one item that the catalogue knows',
      `${itemIds.length} others`,
    );
  }
  throw invalid(
    'userId',
    'a user with a behaviour whose item is in the catalogue',
    `${itemIds.length} behaviours, none of them in the catalogue`,
  );
}

function refuseUnknown(itemIds: readonly string[], index: number): never {
  const field = `history[${index}]`;
  throw new TesseraError(
    'ITEM_NOT_FOUND',
    `${field}: item '${(itemIds[index] as string).slice(0, 80)}' is not in the catalogue`,
    { field },
  );
}

function refuseUnwritable(index: number, itemId: string, sid: readonly number[]): never {
  const field = `history[${index}]`;
  throw new TesseraError(
    'ITEM_NOT_FOUND',
    `${field}: item '${itemId.slice(0, 80)}' has the SID ${sid.join(',')}, ` +
      'which the vocabulary cannot write',
    { field },
  );
}

/**
 * Where a history that is cut begins, so that its beginning stays the same over many requests: the
 * newest N behaviours alone would begin one later with each new one, and no prefix of the prompt
 * would be found again. Of the oldest `percent` of them the one with the least rank begins, and a
 * rank is a hash of the behaviour itself. So the start is a function of what is there, however it
 * arrived, and moves only when its behaviour leaves or a lesser rank comes: after about half as
 * many new behaviours as may be left out (the minimizers of Schleimer, Wilkerson and Aiken,
 * "Winnowing", SIGMOD 2003).
 * @param behaviours oldest first
 * @param percent of them that may be left out, 0..90; 0: none
 * @returns index of the first that stays
 */
export function stableStart(behaviours: readonly Behaviour[], percent: number): number {
  const last = Math.floor((behaviours.length * percent) / 100);
  let start = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let index = 0; index <= last && index < behaviours.length; index++) {
    const rank = rankOf(behaviours[index] as Behaviour);
    // Of equals the newest, which stays the longest.
    if (rank > least) continue;
    least = rank;
    start = index;
  }
  return start;
}

/** 32 bits: FNV-1a over the text, spread over all bits by the finaliser of MurmurHash3. */
function rankOf({ itemId, action, time }: Behaviour): number {
  const text = `${time}\n${action}\n${itemId}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
