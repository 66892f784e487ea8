import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  AdapterAct,
  Adapters,
  PushPart,
  ReceivedVersion,
  WantedWeights,
} from '@tessera/adapter';
import type { CatalogueChanges, OrderedChanges } from '@tessera/catalogue';
import { positionOf } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { partsOfRegular } from '@tessera/files';
import type { EntryStore } from '@tessera/log';
import type { RecallOperations } from '@tessera/recall';
import { KeyWindow } from '../domain/key-window.js';
import type { PartOutcome, StatePart } from '../domain/replicated-state.js';
import type { SharedFiles } from '../snapshots.js';

const CHANGES = 'changes';
const ADAPTERS = 'adapters';
const WEIGHTS = 'weights';
const DROP_VERSION = 'drop-version';

export const KINDS = { CHANGES, ADAPTERS, WEIGHTS, DROP_VERSION } as const;

/** Changes of one catalogue, by its name. */
export interface ChangesBody {
  readonly catalogue: string;
  readonly changes: OrderedChanges;
}

const unmarked = (value: unknown): PartOutcome => ({ value, isMarked: false });

/** Items of all catalogues. The first one keeps the position of the node. */
export function cataloguePart(
  names: readonly string[],
  changesOf: (name: string) => CatalogueChanges,
): StatePart {
  const known = new KeyWindow();
  const put = (body: unknown, offset: number) => {
    const { changes } = body as ChangesBody;
    const isNew = new Set(newRecords(changes, known, offset));
    for (const id of changes.recordIds ?? []) {
      const first = isNew.has(id) ? undefined : known.of(id, offset);
      known.put(id, first ?? { offset }, offset);
    }
  };
  return {
    name: 'catalogues',
    kinds: [CHANGES],
    recall: ({ body }, { offset }) => put(body, offset),
    apply: async ({ body }, { offset }, mark) => {
      const { catalogue, changes } = body as ChangesBody;
      const own = changesOf(catalogue);
      const given = withoutKnown(changes, known, offset);
      put(body, offset);
      const last = positionOf(own.state().mark);
      // A crash may lie between this catalogue's commit and that of the first one.
      const isDone = last?.log === positionOf(mark)?.log && (last?.offset ?? 0) >= offset;
      if (isDone) return unmarked(undefined);
      const value = await own.perform(given, mark);
      return { value, isMarked: catalogue === '' && !value.alreadyApplied };
    },
    digest: async () => {
      const digests = names.map(async (name) => {
        const { bundleUuid } = changesOf(name);
        return [name, [(await changesOf(name).digest()).digest, bundleUuid]];
      });
      return Object.fromEntries(await Promise.all(digests));
    },
  };
}

/**
 * Records that no entry before has brought. A refusal of that entry is not stored: its
 * records come again one by one, with the offset at which they were refused.
 */
function newRecords(changes: OrderedChanges, known: KeyWindow, offset: number): readonly string[] {
  const { recordIds = [], refusedAt } = changes;
  return recordIds.filter((id) => {
    const before = known.of(id, offset);
    // An entry that is tried again finds its own records.
    return before === undefined || before.offset === offset || before.offset === refusedAt;
  });
}

function withoutKnown(changes: OrderedChanges, known: KeyWindow, offset: number): OrderedChanges {
  const { recordIds, messages } = changes;
  if (recordIds === undefined) return changes;
  const isNew = new Set(newRecords(changes, known, offset));
  const left = messages.filter((_, at) => isNew.has(recordIds[at] ?? ''));
  // Of none a catalogue keeps no mark.
  return { ...changes, messages: left.length === 0 ? [[]] : left };
}

const ADAPTER_FILES = 'adapters/';
const adapterFile = (digest: string, name: string) => `${ADAPTER_FILES}${digest}/${name}`;

/** Puts the files of a version where the other nodes find them. */
export async function shareVersion(
  store: EntryStore,
  folder: string,
  { digest, files }: ReceivedVersion,
): Promise<void> {
  for (const { name } of files) {
    await store.putFile(adapterFile(digest, name), join(folder, name));
  }
}

/** Files of versions that are kept or that an entry names. */
export function sharedAdapterFiles(adapters: Adapters | undefined): SharedFiles {
  const digestOf = (name: string) => name.split('/')[1] ?? '';
  return {
    folder: ADAPTER_FILES,
    isUsed: (name) => (adapters?.list('') ?? []).some(({ digest }) => digest === digestOf(name)),
    isNamed: ({ kind, text }, name) => kind === ADAPTERS && text.includes(digestOf(name)),
  };
}

/** The files of a version that another node has shared, as a push. */
async function* fetched(
  store: EntryStore,
  scratch: string,
  { name, baseModel, files, remark, digest, holder, learnedUntilMs }: ReceivedVersion,
): AsyncGenerator<PushPart> {
  yield { header: { name, baseModel, files, remark, holder, learnedUntilMs } };
  await mkdir(scratch, { recursive: true });
  for (const file of files) {
    const path = join(scratch, `${digest}-${file.name}`);
    try {
      await store.getFile(adapterFile(digest, file.name), path);
      for await (const data of partsOfRegular(path)) yield { data };
    } finally {
      await rm(path, { force: true });
    }
  }
  yield { isEnd: true };
}

/** Versions of adapters, which of them serve whom, and which are pinned. */
export function adapterPart(
  adapters: Adapters | undefined,
  store: EntryStore,
  scratch: string,
): StatePart {
  return {
    name: ADAPTERS,
    kinds: [ADAPTERS],
    apply: async ({ body }, { atMs }) => {
      if (adapters === undefined) {
        const message = 'adapters.path: expected a folder, got none: no adapters are kept here';
        throw new TesseraError('ADAPTER_STATE', message);
      }
      const partsOf = (version: ReceivedVersion) => fetched(store, scratch, version);
      return unmarked(await adapters.perform(body as AdapterAct, partsOf, atMs));
    },
    digest: async () => {
      const served = (adapters?.list('') ?? [])
        .filter(({ state, isPinned }) => state === 'active' || state === 'canary' || isPinned)
        .map(({ name, digest, state, share, isPinned }) =>
          JSON.stringify([name, digest, state, share, isPinned]),
        );
      const leases = (adapters?.leases ?? []).map(({ name, holder, digest, takenMs, seconds }) =>
        JSON.stringify([name, holder, digest, takenMs, seconds]),
      );
      return [...served, ...leases].sort();
    },
  };
}

/** The set of weights in service, where it is not the model's own. */
export function weightsPart(weights: RecallOperations['weights']): StatePart {
  return {
    name: WEIGHTS,
    kinds: [WEIGHTS],
    apply: async ({ body }) => unmarked(await weights.perform(body as WantedWeights)),
    digest: async () => {
      const { serving, digest } = weights.current();
      return serving === '' ? '' : [serving, digest];
    },
  };
}

/** A version of prompts that the pool gives up: nothing that is kept of it is compared. */
export function poolPart(dropVersion: (version: string) => boolean): StatePart {
  return {
    name: 'pool',
    kinds: [DROP_VERSION],
    apply: async ({ body }) =>
      unmarked(dropVersion(String((body as { version?: unknown }).version))),
    digest: async () => '',
  };
}
