import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { StalledReader } from '@tessera/testing';
import { expect, it } from 'vitest';
import { CatalogueGrpcController } from './catalogue.controller.js';

const PAGES = 50;

it('lists a page of items for a reader that takes none, and goes on when it does', async () => {
  let made = 0;
  function* pages() {
    for (; made < PAGES; made += 1) yield [];
  }
  const catalogue = { listItems: async () => ({ sequence: 1, pages: pages() }) };
  const operations = { changesOf: () => catalogue };
  const controller = new CatalogueGrpcController(operations as never, {} as never);
  const reader = new StalledReader();
  let taken = 0;
  const asked = { catalogue: '' } as never;
  controller.listItems(asked, {} as never, reader as never).subscribe(() => {
    taken += 1;
  });
  await expect.poll(() => reader.listenerCount('drain')).toBe(1);
  for (let turn = 0; turn < PAGES; turn += 1) await turnOfTheLoop();
  expect(taken).toBe(1);
  reader.writableNeedDrain = false;
  reader.emit('drain');
  await expect.poll(() => taken).toBe(PAGES);
});
