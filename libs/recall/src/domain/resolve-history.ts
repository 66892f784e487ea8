import type { BehaviourStore } from '@tessera/behaviour';
import { type Catalogue, NO_ITEM } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import type { CompiledTemplate, PromptItem, PromptTemplate } from '@tessera/prompt';
import { refuse } from './check-request.js';
import type { UserSource } from './recall-types.js';

/** What the prompt is made of. */
export interface ResolvedHistory {
  /** Oldest first. */
  readonly items: readonly PromptItem[];
  readonly profile: Readonly<Record<string, string>>;
  /** Items that the catalogue does not know, or whose codes have no token. */
  readonly skippedItems: number;
}

interface Given {
  readonly itemIds: readonly string[];
  readonly actions: readonly string[];
  readonly profile: Readonly<Record<string, string>>;
  /** Leave unknown items out rather than refuse the request. */
  readonly skipUnknown: boolean;
}

export interface HistoryParts {
  readonly catalogue: Catalogue;
  readonly template: CompiledTemplate;
  readonly behaviours: BehaviourStore;
  readonly historyItemsMax: number;
  readonly profileKeys: readonly string[];
}

/**
 * The history as SIDs. Items of a known user that have left the catalogue are always left out:
 * behaviours outlive ads. Items of an explicit history are left out only where the request says so.
 * @throws TesseraError USER_NOT_FOUND, ITEM_NOT_FOUND or REQUEST_INVALID with the field's path
 */
export async function resolveHistory(
  request: UserSource,
  parts: HistoryParts,
): Promise<ResolvedHistory> {
  const given = await givenBy(request, parts);
  const ordinals = parts.catalogue.find(given.itemIds);
  const known = [...ordinals.keys()].filter((index) => ordinals[index] !== NO_ITEM);
  if (!given.skipUnknown && known.length < given.itemIds.length) {
    refuseUnknown(given.itemIds, ordinals);
  }
  const found = Uint32Array.from(known, (index) => ordinals[index] as number);
  const sids = parts.catalogue.sids(found);
  const domains = domainsOf(parts, found);
  const items: PromptItem[] = [];
  sids.forEach((sid, i) => {
    const index = known[i] as number;
    if (parts.template.canWrite(sid)) {
      items.push({ sid, action: given.actions[index] ?? '', domain: domains[i] ?? '' });
    } else if (!given.skipUnknown) {
      refuseUnwritable(index, given.itemIds[index] as string, sid);
    }
  });
  checkNotEmpty(request, given, items.length, parts.template.template);
  return { items, profile: given.profile, skippedItems: given.itemIds.length - items.length };
}

async function givenBy(request: UserSource, parts: HistoryParts): Promise<Given> {
  if (request.history !== undefined) {
    const { history, profile, skipUnknownItems } = request;
    return { itemIds: history, actions: [], profile, skipUnknown: skipUnknownItems };
  }
  const userId = request.userId as string;
  const [behaviours, profile] = await Promise.all([
    parts.behaviours.history(userId, parts.historyItemsMax),
    parts.behaviours.profile(userId),
  ]);
  if (behaviours === null) {
    throw new TesseraError('USER_NOT_FOUND', `userId: user '${userId}' is not known`, {
      field: 'userId',
    });
  }
  const stored = Object.entries(profile ?? {}).filter(([key]) => parts.profileKeys.includes(key));
  return {
    itemIds: behaviours.map((behaviour) => behaviour.itemId),
    actions: behaviours.map((behaviour) => behaviour.action),
    profile: { ...Object.fromEntries(stored), ...request.profile },
    skipUnknown: true,
  };
}

/** The domain of each item, from its attributes; read only where the template asks for it. */
function domainsOf(parts: HistoryParts, ordinals: Uint32Array): readonly string[] {
  if (!usesDomains(parts.template.template)) return [];
  return parts.catalogue.items(ordinals).map(({ attributes }) => {
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

/** A prompt without items is answered only for a user of whom the template shows something else. */
function checkNotEmpty(
  request: UserSource,
  given: Given,
  itemCount: number,
  template: PromptTemplate,
): void {
  if (itemCount > 0) return;
  if (request.history !== undefined) {
    refuse(
      'history',
      'at least one item that the catalogue knows',
      `${given.itemIds.length} others`,
    );
  }
  const showsMore = template.segments.some(
    (segment) => segment.kind === 'profile' || segment.kind === 'scene',
  );
  if (showsMore) return;
  refuse(
    'userId',
    'a user with at least one behaviour (the prompt template shows neither profile nor scene)',
    `${given.itemIds.length} behaviours, none of them in the catalogue`,
  );
}

function refuseUnknown(itemIds: readonly string[], ordinals: Uint32Array): never {
  const index = ordinals.indexOf(NO_ITEM);
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
