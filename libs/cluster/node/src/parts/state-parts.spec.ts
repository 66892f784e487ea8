import {
  CatalogueChanges,
  CHANGES_NOT_KEPT,
  type ImportMark,
  type OrderedChanges,
} from '@tessera/catalogue';
import { markOf, positionOf } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { FakeChangingCatalogue } from '@tessera/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { startOf } from '../domain/position.js';
import { mayPass } from '../domain/replicated-state.js';
import { cataloguePart } from './state-parts.js';

/** Newest entries whose records are known. */
const KEPT = 4096;

const position = (offset: number) => ({ ...startOf('log'), offset });
const upsert = (itemId: string) =>
  ({ op: 'upsert', itemId, sid: [0], title: '', attributes: '{}', priority: 0 }) as const;

/** Of records that are called as the items that they bring. */
function recordsOf(ids: readonly string[], refusedAt?: number): OrderedChanges {
  const messages = ids.map((id) => [upsert(id.replace(/ .*/, ''))]);
  return { messages, ops: {}, told: [], source: 'topic', recordIds: ids, refusedAt };
}

/** A process over catalogues that outlive it. */
class Process {
  readonly part;

  constructor(readonly catalogues: ReadonlyMap<string, FakeChangingCatalogue>) {
    const changes = new Map(
      [...catalogues].map(([name, one]) => [name, new CatalogueChanges(one, CHANGES_NOT_KEPT)]),
    );
    this.part = cataloguePart(
      [...catalogues.keys()],
      (name) => changes.get(name) as CatalogueChanges,
    );
  }

  apply(offset: number, changes: OrderedChanges, catalogue = '') {
    const act = { kind: 'changes', body: { catalogue, changes } };
    return this.part.apply(act, { offset, atMs: 1 }, markOf(position(offset)));
  }

  recall(offset: number, changes: OrderedChanges): void {
    const body = { catalogue: '', changes };
    this.part.recall?.({ kind: 'changes', body }, { offset, atMs: 1 });
  }

  items(name = ''): readonly string[] {
    const applied = this.catalogues.get(name)?.applied ?? [];
    return applied.map((change) => (change as { readonly itemId: string }).itemId);
  }
}

const fresh = () =>
  new Map(['', 'more'].map((name) => [name, new FakeChangingCatalogue([])] as const));
let process_: Process;

beforeEach(() => {
  process_ = new Process(fresh());
});

describe('changes that entries bring to catalogues', () => {
  it('are applied with the position, which the first catalogue keeps', async () => {
    const first = await process_.apply(1, recordsOf(['a']));
    expect(first).toMatchObject({ isMarked: true, value: { sequence: 1 } });
    expect(positionOf(process_.catalogues.get('')?.mark ?? '')).toEqual(position(1));
    const other = await process_.apply(2, recordsOf(['b']), 'more');
    expect(other).toMatchObject({ isMarked: false, value: { sequence: 1 } });
    expect([process_.items(), process_.items('more')]).toEqual([['a'], ['b']]);
  });

  it('are applied with their records where a full disk kept them out at first', async () => {
    const catalogue = process_.catalogues.get('') as FakeChangingCatalogue;
    const apply = catalogue.apply.bind(catalogue);
    catalogue.apply = () => Promise.reject(new TesseraError('STORE_FULL', 'the disk is full'));
    await expect(process_.apply(1, recordsOf(['a']))).rejects.toMatchObject({ code: 'STORE_FULL' });
    catalogue.apply = apply;
    await process_.apply(1, recordsOf(['a']));
    await process_.apply(2, recordsOf(['a', 'b']));
    expect(process_.items()).toEqual(['a', 'b']);
  });

  it('are not applied again behind a crash that lost the mark of the node alone', async () => {
    await process_.apply(1, recordsOf(['a']), 'more');
    const again = new Process(process_.catalogues);
    expect(await again.apply(1, recordsOf(['a']), 'more')).toEqual({
      value: undefined,
      isMarked: false,
    });
    expect(again.items('more')).toEqual(['a']);
  });

  it('of an import that was applied before leave the mark to the node', async () => {
    const importMark: ImportMark = { name: 'ads', position: 1 };
    const { recordIds: _, ...changes } = recordsOf(['a']);
    const imported = Object.assign(changes, { importMark });
    expect(await process_.apply(1, imported)).toMatchObject({ isMarked: true });
    expect(await process_.apply(2, imported)).toMatchObject({ isMarked: false });
    expect(process_.items()).toEqual(['a']);
  });
});

describe('records of a topic', () => {
  it('count once, whichever entries bring them again', async () => {
    await process_.apply(1, recordsOf(['a', 'b']));
    await process_.apply(2, recordsOf(['b', 'c']));
    const again = await process_.apply(3, recordsOf(['a', 'c']));
    expect(again).toMatchObject({ isMarked: true, value: { changeCount: 0 } });
    expect(process_.items()).toEqual(['a', 'b', 'c']);
    expect(positionOf(process_.catalogues.get('')?.mark ?? '')).toEqual(position(3));
  });

  it('of an entry that was refused count when they come again one by one', async () => {
    const refused = process_.apply(1, recordsOf(['a', 'wrong']));
    await expect(refused).rejects.toMatchObject({ code: 'CATALOGUE_INVALID' });
    await process_.apply(2, recordsOf(['a']));
    expect(process_.items(), 'brought by somebody who does not know').toEqual([]);
    await process_.apply(3, recordsOf(['a'], 1));
    await process_.apply(4, recordsOf(['a'], 1));
    expect(process_.items()).toEqual(['a']);
  });

  it('count the same whenever a process was started', async () => {
    const entries = new Map<number, OrderedChanges>([
      [1, recordsOf(['a 1', 'b'])],
      [KEPT - 100, recordsOf(['a 1', 'c'])],
    ]);
    for (const [offset, changes] of entries) await process_.apply(offset, changes);
    expect(process_.items()).toEqual(['a', 'b', 'c']);
    // Another process knows the newest entries alone: of the record, only that it came again.
    const again = new Process(fresh());
    again.recall(KEPT - 100, entries.get(KEPT - 100) as OrderedChanges);
    for (const one of [process_, again]) {
      const before = one.items().length;
      await one.apply(KEPT + 2, recordsOf(['a 1', 'b']));
      expect(one.items().slice(before)).toEqual(['b']);
    }
  });
});

it('refuses the push of a second holder for good, and waits for one that is on its way in', () => {
  const conflict = (field: string) => new TesseraError('PUSH_CONFLICT', 'another', { field });
  expect([conflict('holder'), conflict('name')].map(mayPass)).toEqual([false, true]);
});
