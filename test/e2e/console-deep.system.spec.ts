/** The console in a real browser over a catalogue of four levels, and when things go wrong. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { BROWSER_PATH, launchBrowser, Visit } from './browser.js';
import { DEEP, MARKUP_USER, writeRandomModel } from './random-model.js';
import { Service } from './service.js';

const folder = temporaryFolder({});
const modelPath = join(folder.path, 'model');
const variables = {
  TESSERA_MODEL_PATH: modelPath,
  TESSERA_CATALOGUE_PATH: join(modelPath, 'catalogue.jsonl'),
  TESSERA_CATALOGUE_TITLES_PATH: '',
  TESSERA_USERS_PATH: join(modelPath, 'users.json'),
  TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
  TESSERA_CATALOGUE_CHANGES_PATH: join(folder.path, 'changes'),
  TESSERA_INSPECTION_PATH: join(folder.path, 'inspection'),
  TESSERA_INSPECTION_PERCENT: '0',
};

interface Item {
  readonly itemId: string;
  readonly sid: readonly number[];
}

describe.skipIf(BROWSER_PATH === undefined)('the console over a deep catalogue', () => {
  let service: Service;
  let browser: Browser;
  let visit: Visit;

  beforeAll(async () => {
    writeRandomModel(modelPath, DEEP);
    [service, browser] = await Promise.all([Service.start(variables), launchBrowser()]);
    visit = await Visit.open(browser, service.httpUrl);
  });

  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await service?.stop();
    folder.remove();
  });

  const field = (label: string) =>
    visit.page.getByLabel(new RegExp(`^${label}( \\*)?$`)).and(visit.page.locator('input'));
  const tree = () => visit.page.getByRole('img', { name: /^Tree of the search/ });

  /** A recorded recall: its ID and its items. */
  async function recorded(body: object): Promise<{ id: string; items: Item[] }> {
    const { status, json } = await service.post({ inspect: true, userId: '1', ...body });
    expect([status, json]).toMatchObject([200, {}]);
    const path = `/console/api/recalls?requestId=${json.requestId}`;
    const { recalls } = (await (await fetch(service.httpUrl + path)).json()) as {
      recalls: { id: string }[];
    };
    return { id: recalls[0]?.id ?? '', items: json.items as Item[] };
  }

  /** The items of an answer, but those that are named. */
  const others = (items: readonly Item[], ...but: (Item | undefined)[]) =>
    items.filter(({ itemId }) => !but.some((one) => one?.itemId === itemId));

  it('draws the tree of a beam of 64 over four levels, and all of it at once', async () => {
    const history = Array.from({ length: 30 }, (_, at) => String(at * 7));
    const asked = { userId: undefined, history, widths: [64], resultCount: 20 };
    const { id } = await recorded(asked);
    await visit.goTo(`/recalls/${id}`);
    await tree().waitFor();
    expect(await tree().getAttribute('aria-label')).toMatch(/in 4 steps$/);
    // The root, 16 codes and all that 64 beams and 32 rejected ones come to in three steps.
    expect(Number(await tree().getAttribute('data-nodes'))).toBe(1 + 16 + 3 * (64 + 32));
    await visit.page.getByText('Times at', { exact: false }).waitFor();
    await visit.page.getByRole('cell', { name: 'computed', exact: true }).first().waitFor();
    await visit.page.getByRole('button', { name: 'Show all' }).click();
    await visit.picture('tree-64x4-light');
    await visit.expectAccessible();
    expect(visit.faults).toEqual([]);
  });

  it('imports a file of changes, tells of it, and refuses one that is wrong', async () => {
    const { page } = visit;
    await visit.goTo('/catalogue');
    await page.getByText('No change is recorded').waitFor();
    const path = join(folder.path, 'changes.jsonl');
    const choose = async (text: string) => {
      writeFileSync(path, text);
      const chooser = page.waitForEvent('filechooser');
      await page.getByLabel('File of changes').click();
      await (await chooser).setFiles(path);
      await page.getByRole('button', { name: 'Import', exact: true }).click();
    };
    await choose('{"op":"pause","item_id":"0"}\n{"op":"pause","item_id":"no such item"}\n');
    await page.getByText('line 2', { exact: false }).waitFor();
    await page.getByText('Nothing of the file was applied.').waitFor();
    await visit.picture('import-refused-light');
    const upsert = { item_id: 'new', sid: [1, 2, 3, 4], title: 'A new one' };
    await choose(`{"op":"pause","item_id":"0"}\n\n${JSON.stringify(upsert)}\n`);
    await page.getByText('2 changes; the newest is number 2', { exact: false }).waitFor();
    await page.getByRole('cell', { name: '1 put in or changed', exact: false }).waitFor();
    await page.getByRole('cell', { name: 'console: local' }).waitFor();
    await visit.picture('catalogue-changes-light');
    await visit.expectAccessible();
    expect(visit.faults).toEqual([]);
  });

  it('compares before and after a change, and keeps the comparison with a note', async () => {
    const { page } = visit;
    await visit.goTo('/catalogue');
    await page.getByRole('link', { name: 'Before and after' }).first().click();
    await page.getByRole('heading', { name: 'Compare two settings' }).waitFor();
    await page.getByLabel('or these').fill('1 2');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('figure').filter({ hasText: 'Overlap, mean of the users' }).waitFor();
    await page.getByRole('link', { name: 'its own address' }).click();
    await page.getByRole('heading', { name: 'A saved comparison' }).waitFor();
    await page.getByText('catalogueSequence').first().waitFor();
    await page.getByLabel('New note').fill('nothing of note');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('nothing of note').waitFor();
    await visit.picture('comparison-saved-light');
    await visit.expectAccessible();
    await visit.goTo('/compare');
    await page
      .getByRole('cell', { name: '"catalogueSequence"' })
      .or(page.getByText(/against/))
      .first()
      .waitFor();
    expect(visit.faults).toEqual([]);
  });

  it('says why not, for each of the eight outcomes', async () => {
    const { page } = visit;
    const wide = { widths: [512], resultCount: 500, itemsPerSid: 20 };
    const { items: all } = await recorded(wide);
    const diversity = [{ attribute: 'brand', maxItems: 1 }];
    const eligibility = { denied: [all.at(-1)?.itemId] };
    const asked = { widths: [64, 64, 64, 256], resultCount: 5, itemsPerSid: 1, eligibility };
    const { id, items } = await recorded({ ...asked, itemPolicy: { orderBy: '', diversity } });
    const brandOf = ({ itemId }: Item) => Number(itemId) % 10;
    const [best] = items;
    const sidsOf = (list: readonly Item[]) => new Set(list.map(({ sid }) => sid.join()));
    const rest = others(all, ...items, all.at(-1));
    // Items in order: until the answer is full, those whose brand is taken are passed over.
    const last = all.findIndex(({ itemId }) => itemId === items.at(-1)?.itemId);
    const capped = rest.find((item) => {
      const above = all.slice(0, all.indexOf(item));
      const isFirstOfSid = !sidsOf(above).has(item.sid.join());
      const isTaken = above.some((one) => items.includes(one) || brandOf(one) === brandOf(item));
      return isFirstOfSid && isTaken && all.indexOf(item) < last;
    });
    const cases: [string, string, string | undefined][] = [
      ['returned', 'at rank 1', best?.itemId],
      ['not-eligible', 'denied', all.at(-1)?.itemId],
      ['not-live', 'paused or removed, since change 1', '0'],
      ['not-in-catalogue', 'Check the ID', 'no such item'],
      ['behind-diversity-cap', 'share its brand already', capped?.itemId],
    ];
    const found = new Map<string, string>();
    // Told by the service, of which items the page is to be asked.
    const api = `${service.httpUrl}/console/api/recalls/${id}/explain`;
    const headers = { 'x-tessera-console': '1', 'content-type': 'application/json' };
    for (const { itemId } of [
      ...rest,
      ...Array.from({ length: 40 }, (_, at) => ({ itemId: `${at + 1}` })),
    ]) {
      const reply = await fetch(api, { method: 'POST', headers, body: JSON.stringify({ itemId }) });
      const { verdict } = (await reply.json()) as { verdict: string };
      if (!found.has(verdict)) found.set(verdict, itemId);
      if (['pruned', 'behind-results', 'behind-sid-cap'].every((one) => found.has(one))) break;
    }
    cases.push(['pruned', 'gave its path up', found.get('pruned')]);
    cases.push(['behind-results', 'better items filled the answer', found.get('behind-results')]);
    cases.push(['behind-sid-cap', 'other items of its SID', found.get('behind-sid-cap')]);
    await visit.goTo(`/recalls/${id}`);
    for (const [verdict, sentence, itemId] of cases) {
      expect([verdict, itemId]).toEqual([verdict, expect.any(String)]);
      await field('Item').fill(itemId as string);
      await page.getByRole('button', { name: 'Explain' }).click();
      await page
        .getByRole('alert')
        .filter({ hasText: verdict })
        .filter({ hasText: sentence })
        .waitFor();
    }
    await visit.expectAccessible();
    expect(visit.faults).toEqual([]);
  });

  it('takes the name of a user for text, whatever is in it', async () => {
    const { page } = visit;
    await recorded({ userId: MARKUP_USER });
    await visit.goTo(`/users/${encodeURIComponent(MARKUP_USER)}`);
    await page.getByRole('heading', { name: `User ${MARKUP_USER}` }).waitFor();
    await visit.goTo(`/recalls?userId=${encodeURIComponent(MARKUP_USER)}`);
    await page
      .getByRole('link', { name: MARKUP_USER })
      .or(page.getByRole('cell', { name: MARKUP_USER }))
      .first()
      .waitFor();
    await visit.goTo('/users/nobody');
    await page.getByText("user 'nobody' is not known").waitFor();
    await visit.picture('user-unknown-light');
    expect(visit.faults).toEqual([]);
  });

  it('streams a large export', async () => {
    const { page } = visit;
    await visit.goTo('/sql');
    const rows = 1_000_000;
    await page
      .getByRole('textbox', { name: 'Question', exact: true })
      .fill(`SELECT range AS n FROM range(${rows})`);
    const [fetched] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV', exact: true }).click(),
    ]);
    const reply = await fetch(fetched.url());
    let [parts, lines] = [0, 0];
    for await (const part of reply.body as unknown as AsyncIterable<Uint8Array>) {
      parts += 1;
      for (const byte of part) lines += byte === 10 ? 1 : 0;
    }
    expect(lines).toBe(rows + 1);
    expect(parts).toBeGreaterThan(10);
  });

  it('shows that it is on its way where the network is slow', async () => {
    const { id } = await recorded({ widths: [64] });
    const slow = await Visit.open(browser, service.httpUrl);
    const wire = await slow.context.newCDPSession(slow.page);
    const bytesPerSecond = 150 * 1024;
    await wire.send('Network.enable');
    await wire.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 300,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    });
    const seen = { first: false, second: false };
    const first = slow.page.getByText('The console is on its way').waitFor();
    const second = slow.page.getByLabel('Loading').first().waitFor();
    await slow.goTo(`/recalls/${id}`);
    await first.then(() => {
      seen.first = true;
    });
    await second.then(() => {
      seen.second = true;
    });
    await slow.page.getByRole('img', { name: /^Tree of the search/ }).waitFor();
    expect([seen, slow.faults]).toEqual([{ first: true, second: true }, []]);
    await slow.close();
  });

  it('says that the service is gone, goes on by itself and shows old versions', async () => {
    const { page } = visit;
    const { id } = await recorded({ widths: [64] });
    await visit.goTo('/recalls');
    await page.getByRole('table').waitFor();
    const { port } = new URL(service.httpUrl);
    await service.stop();
    await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
    // Other weights: the recalls of before cannot be replayed.
    writeRandomModel(modelPath, { ...DEEP, seed: DEEP.seed + 1 });
    service = await Service.start({ ...variables, TESSERA_HTTP_PORT: port });
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await visit.goTo(`/recalls/${id}`);
    await page.getByText('Versions have moved on').waitFor();
    await page.getByText('so it cannot be replayed').waitFor();
    await tree().waitFor();
    await visit.picture('versions-gone-light');
    expect(visit.faults).toEqual([]);
  });
});
