/** The items of an older version, by changes to the newest one, over random catalogues. */

import { join } from 'node:path';
import {
  buildCatalogue,
  type ChangingCatalogue,
  EVERY_ITEM,
  type GivenChange,
  type ListedItem,
  openCatalogue,
} from '@tessera/engine';
import { seededRandom, temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CatalogueChanges } from '../catalogue-changes.js';
import { changesBackTo } from './changes-back-to.js';

const SEED = 20_261_126;
const ROUNDS = 24;
const IDS = Array.from({ length: 12 }, (_, n) => `i${n}`);

const folder = temporaryFolder({
  'items.jsonl': IDS.slice(0, 6)
    .map((item_id, n) => JSON.stringify({ item_id, sid: [n % 4, n % 3] }))
    .join('\n'),
});
const outputPath = join(folder.path, 'catalogue.snapshot');
const random = seededRandom(SEED);
const below = (count: number) => Math.floor(random() * count);
const one = <T>(of: readonly T[]) => of[below(of.length)] as T;

beforeAll(async () => {
  const sources = [{ path: join(folder.path, 'items.jsonl'), domain: '' }];
  await buildCatalogue(
    { sources, titlesPath: '', levelSizes: [4, 3], outputPath },
    () => undefined,
  );
});

afterAll(() => folder.remove());

/** Kept in a folder of its own, so that older versions are. */
async function opened(name: string): Promise<ChangingCatalogue> {
  const catalogue = await openCatalogue(outputPath);
  const keeping = { folder: join(folder.path, name), levelSizes: [], reserveBytes: 0 };
  await catalogue.keep({ ...keeping, sync: 'never' });
  return catalogue;
}

async function itemsOf(catalogue: ChangingCatalogue): Promise<readonly ListedItem[]> {
  const pages = [...catalogue.listItems(await catalogue.reach(EVERY_ITEM))];
  return pages.flat().sort((a, b) => (a.itemId < b.itemId ? -1 : 1));
}

/** Of an item that is there, or of one that comes. */
function randomChange(items: readonly ListedItem[]): GivenChange {
  const known = one(items)?.itemId;
  const op =
    known === undefined ? 'upsert' : one(['upsert', 'remove', 'pause', 'resume', 'upsert']);
  if (op !== 'upsert') return { op, itemId: known } as GivenChange;
  return {
    op,
    itemId: one(IDS),
    sid: [below(4), below(3)],
    title: one(['', 'Tëst', 'other']),
    attributes: one(['{}', '{"n":1}', '{"l":["a"]}']),
    priority: one([0, 0.5, -2]),
  };
}

describe('changes back to a version', () => {
  it(`make its items those of the newest one, seed ${SEED}`, async () => {
    const catalogue = await opened('random');
    const versions = [await itemsOf(catalogue)];
    for (let n = 0; n < ROUNDS * 4; n += 1) {
      const items = versions.at(-1) as readonly ListedItem[];
      await catalogue.apply([[randomChange(items)]]);
      versions.push(await itemsOf(catalogue));
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      const to = below(versions.length);
      const { batches, onto } = await changesBackTo(catalogue, to);
      expect(onto).toBe(catalogue.state().sequence);
      const paused = new Set(
        versions.flat().flatMap(({ itemId, isPaused }) => (isPaused ? [itemId] : [])),
      );
      for (const messages of batches) {
        const ids = messages.flat().map(({ itemId }) => itemId);
        expect(new Set(ids).size, 'an item is named once in a batch').toBe(ids.length);
        await catalogue.apply(messages);
      }
      expect(await itemsOf(catalogue), `back to ${to}`).toEqual(versions[to]);
      expect(batches.length).toBeLessThanOrEqual(paused.size === 0 ? 1 : 2);
      const { batches: none } = await changesBackTo(catalogue, to);
      expect(none).toEqual([]);
    }
    catalogue.close();
  });

  it('are refused where the version is not kept', async () => {
    const catalogue = await openCatalogue(outputPath);
    await expect(changesBackTo(catalogue, 7)).rejects.toMatchObject({
      code: 'CATALOGUE_NOT_FOUND',
    });
    catalogue.close();
  });
});

describe('a roll-back that a log orders', () => {
  it('has a key for each of its steps, the same when it is asked for again', async () => {
    const catalogue = await opened('steps');
    const changes = new CatalogueChanges(catalogue, {
      folder: '',
      compactAfterChanges: 0,
      onCompacted: () => undefined,
    });
    await changes.apply([{ op: 'pause', itemId: 'i0' }]);
    const before = await itemsOf(catalogue);
    await changes.apply([
      { op: 'upsert', itemId: 'i0', sid: [3, 2], title: '', attributes: '{}', priority: 0 },
      { op: 'remove', itemId: 'i1' },
    ]);
    await changes.apply([{ op: 'resume', itemId: 'i0' }]);
    const keys: (string | undefined)[] = [];
    const asked: unknown[] = [];
    let isLost = true;
    changes.orderBy(async (ordered, how) => {
      keys.push(how.key);
      asked.push(ordered.onto);
      if (isLost) throw new Error('lost');
      return changes.perform(ordered);
    });
    const back = () => changes.rollBack(1, '', { key: 'of the caller' });
    await expect(back()).rejects.toThrow('lost');
    isLost = false;
    const sequence = await back();
    expect(await itemsOf(catalogue)).toEqual(before);
    expect(sequence).toBe(catalogue.state().sequence);
    expect(keys).toHaveLength(3);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[1]);
    expect(await back()).toBe(sequence);
    expect(keys).toHaveLength(3);
    catalogue.close();
  });
});
