import { FakeChangingCatalogue } from '@tessera/testing';
import { describe, expect, it } from 'vitest';
import { CatalogueChanges } from './catalogue-changes.js';

const ITEMS = Array.from({ length: 80 }, (_, i) => ({ itemId: String(i), sid: [i] }));

/** Compactions after each of so many changes, one by one. */
async function compactionsAfter(changes: number, compactAfterChanges: number): Promise<number> {
  const catalogue = new FakeChangingCatalogue(ITEMS);
  const settings = { folder: 'kept', compactAfterChanges, onCompacted: () => undefined };
  const kept = new CatalogueChanges(catalogue, settings);
  for (let i = 0; i < changes; i += 1) {
    await kept.apply([{ op: 'pause', itemId: String(i) }]);
    await kept.settled();
  }
  return catalogue.compactions;
}

describe('A snapshot is made anew', () => {
  it('after the changes that are set, where the items are few', async () => {
    expect(await compactionsAfter(19, 20)).toBe(0);
    expect(await compactionsAfter(20, 20)).toBe(1);
  });

  it('after one change for every eight items, where that is more', async () => {
    expect(await compactionsAfter(9, 1)).toBe(0);
    expect(await compactionsAfter(10, 1)).toBe(1);
  });

  it('never by itself where 0 is set', async () => {
    expect(await compactionsAfter(30, 0)).toBe(0);
  });
});

it('knows when the last change was, and not of batches without one', async () => {
  let nowMs = 1000;
  const settings = { folder: '', compactAfterChanges: 0, onCompacted: () => undefined };
  const options = { ...settings, nowMs: () => nowMs };
  const changes = new CatalogueChanges(new FakeChangingCatalogue(ITEMS), options);
  expect(changes.changedMs).toBe(1000);
  nowMs = 2000;
  await changes.apply([{ op: 'pause', itemId: '1' }]);
  nowMs = 3000;
  await changes.note('mark');
  expect(changes.changedMs).toBe(2000);
});
