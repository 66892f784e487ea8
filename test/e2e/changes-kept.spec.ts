/** Acknowledged changes are there after a kill, once, with the default settings. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { CatalogueClient } from '../../tools/served/catalogue-client.js';
import { RecallClient } from '../integration/recall-client.js';
import { SMALL, writeRandomModel } from './random-model.js';
import { Service } from './service.js';

const CALL_MS = 60_000;
const EVERYTHING = { userId: '1', resultCount: 1000, widths: [512], itemsPerSid: 1000 };

async function recalledItems({ grpcAddress }: Service): Promise<string[]> {
  const recalls = new RecallClient(grpcAddress);
  const { status, details, answer } = await recalls.recall(EVERYTHING);
  recalls.close();
  expect(status, details).toBe(0);
  return (answer as { items: { itemId: string }[] }).items.map(({ itemId }) => itemId);
}

/** A batch of an import that adds to a budget; whether it had been applied before. */
async function spend({ grpcAddress }: Service): Promise<boolean> {
  const catalogue = new CatalogueClient(grpcAddress);
  const delta = [{ attribute: 'budget', delta: 5 }];
  const changes = [{ patchAttributes: { itemId: '7', delta } }];
  const importMark = { name: 'spent', position: 1 };
  const { alreadyApplied } = await catalogue.call<{ alreadyApplied: boolean }>(
    'Apply',
    { changes, importMark },
    CALL_MS,
  );
  catalogue.close();
  return alreadyApplied;
}

async function budget({ grpcAddress }: Service): Promise<unknown> {
  const catalogue = new CatalogueClient(grpcAddress);
  type Page = { readonly items: readonly { itemId: string; attributes: string }[] };
  let found: unknown;
  for await (const { items } of catalogue.stream<Page>('ListItems', {}, CALL_MS)) {
    for (const item of items) if (item.itemId === '7') found = JSON.parse(item.attributes).budget;
  }
  catalogue.close();
  return found;
}

async function pause({ grpcAddress }: Service, itemId: string): Promise<void> {
  const catalogue = new CatalogueClient(grpcAddress);
  await catalogue.call('Apply', { changes: [{ pauseItemId: itemId }] }, CALL_MS);
  catalogue.close();
}

it('a paused item stays paused after a kill, and no other catalogue knows of it', async () => {
  const folder = temporaryFolder({});
  const model = writeRandomModel(join(folder.path, 'model'), SMALL);
  // Items that no other catalogue has, so that no other service has this folder of the default.
  const file = join(model, 'catalogue.jsonl');
  const other = readFileSync(file, 'utf8');
  const own = `${other}\n${JSON.stringify({ item_id: folder.path, sid: [0, 0, 0] })}\n`;
  const variables = {
    TESSERA_MODEL_PATH: model,
    TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
    TESSERA_CATALOGUE_CHANGES_PATH: undefined,
  };
  const made: string[] = [];
  const start = async (lines: string) => {
    writeFileSync(file, lines);
    const service = await Service.start(variables);
    const kept = /Changes of the catalogue in (\S+):/.exec(service.stdout)?.[1] ?? '';
    expect(dirname(kept)).toBe(join(repositoryRoot, 'data/changes'));
    made.push(kept);
    return { service, ids: await recalledItems(service) };
  };
  try {
    const first = await start(own);
    expect(first.ids).toContain('7');
    await pause(first.service, '7');
    expect(await spend(first.service)).toBe(false);
    first.service.child.kill('SIGKILL');
    await first.service.ended;

    const again = await start(own);
    expect(again.ids).toEqual(first.ids.filter((itemId) => itemId !== '7'));
    expect(await spend(again.service)).toBe(true);
    expect(await budget(again.service)).toBe(5);
    again.service.child.kill('SIGKILL');
    await again.service.ended;

    const more = JSON.stringify({ item_id: 'more', sid: [1, 1, 1] });
    const different = await start(`${own}${more}\n`);
    expect(different.ids).toContain('7');
    expect((await different.service.stop()).status).toBe(0);

    const back = await start(own);
    expect(back.ids).toEqual(again.ids);
    await back.service.stop();
  } finally {
    for (const path of made) rmSync(path, { recursive: true, force: true });
    folder.remove();
  }
});
