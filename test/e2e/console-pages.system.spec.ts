/** Every page of the console at every width, its addresses, and the questions of analysts. */

import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { analysisAnswer } from './analysis-answers.js';
import { BROWSER_PATH, launchBrowser, Visit } from './browser.js';
import { Service } from './service.js';

/** Bytes that the first page may take to load, as they come over the wire. */
const FIRST_LOAD_MAX = 350 * 1024;
/** Clicks, filled fields and keys, from the first page on. */
const ACTIONS_MAX = 6;
const DAYPARTS = ['morning', 'afternoon', 'evening', 'night'];
const folder = temporaryFolder({});
const variables = {
  TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
  TESSERA_CATALOGUE_CHANGES_PATH: join(folder.path, 'changes'),
  TESSERA_BEHAVIOURS_STORE: 'embedded',
  TESSERA_BEHAVIOURS_PATH: join(folder.path, 'behaviours'),
  TESSERA_INSPECTION_PATH: join(folder.path, 'inspection'),
  TESSERA_INSPECTION_PERCENT: '100',
  TESSERA_ADAPTERS_PATH: join(folder.path, 'adapters'),
};

if (BROWSER_PATH === undefined) {
  console.log('console-pages.system.spec: skipped, Chromium is absent (apt-get install chromium)');
}

/** Pages with what stands above them; RECALL and COMPARISON are IDs. */
const PAGES: readonly (readonly [name: string, path: string, heading: string | RegExp])[] = [
  ['overview', '/', 'Overview'],
  ['composition', '/composition', 'Composition'],
  ['reach', '/reach?by=brand', 'Reach'],
  ['unreached', '/reach?show=unreached', 'Reach'],
  ['versions', '/versions', 'Versions'],
  ['outcome', '/versions?show=outcome', 'Versions'],
  ['change', '/change?user=1', 'Change of a user'],
  ['items', '/items', 'Items'],
  ['ad', '/items/80', /espresso/i],
  ['ask', '/ask', 'Ask in SQL'],
  ['recalls', '/recalls', 'Recorded recalls'],
  ['recall', '/recalls/RECALL', 'Recall for user 1'],
  ['user', '/users/1', 'User 1'],
  ['users', '/users', 'Users'],
  ['try', '/try', 'Try a recall'],
  ['compare', '/compare', 'Compare two settings'],
  ['comparison', '/compare/COMPARISON', 'A saved comparison'],
  ['relevance', '/relevance', 'Relevance'],
  ['live', '/live', 'Live'],
  ['adapters', '/adapters', 'Adapters'],
  ['catalogue', '/catalogue', 'Catalogue'],
  ['cluster', '/cluster', 'Cluster'],
  ['unknown', '/nosuch', 'No such page'],
];

/** A phone, a tablet and a desk. */
const LOOKS = [
  [390, 'light'],
  [768, 'light'],
  [1440, 'dark'],
] as const;

interface Listed {
  readonly id: string;
  readonly userId: string;
  readonly timeMs: number;
}

describe.skipIf(BROWSER_PATH === undefined)('the pages of the console', () => {
  let service: Service;
  let browser: Browser;
  let visit: Visit;
  /** Sees rich answers of the analysis. */
  let look: Visit;
  let comparison = '';

  const headers = { 'x-tessera-console': '1', 'content-type': 'application/json' };

  async function api<Answer>(path: string, body?: object): Promise<Answer> {
    const sent = body && { method: 'POST', headers, body: JSON.stringify(body) };
    const reply = await fetch(`${service.httpUrl}/console/api/${path}`, sent);
    expect(reply.status, path).toBe(200);
    return (await reply.json()) as Answer;
  }

  async function recallAs(userId: string, at: number): Promise<void> {
    const scene = { daypart: DAYPARTS[at % DAYPARTS.length] };
    const { status } = await service.post({ userId, scene, resultCount: 20 });
    expect(status).toBe(200);
  }

  const listed = async (query: string) =>
    (await api<{ recalls: Listed[] }>(`recalls?${query}`)).recalls;

  beforeAll(async () => {
    [service, browser] = await Promise.all([Service.start(variables), launchBrowser()]);
    visit = await Visit.open(browser, service.httpUrl);
    look = await Visit.open(browser, service.httpUrl);
    await look.page.route('**/console/api/analysis/**', (route) =>
      route.fulfill({ json: analysisAnswer(route.request().url()) }),
    );
    for (let at = 0; at < 24; at += 1) await recallAs(String(1 + (at % 6)), at);
    const compare = { left: { widths: [16] }, right: { widths: [4] }, sample: 4, seed: 7 };
    const reply = await fetch(`${service.httpUrl}/console/api/comparisons`, {
      method: 'POST',
      headers,
      body: JSON.stringify(compare),
    });
    comparison = JSON.parse((await reply.text()).trim().split('\n').at(-1) ?? '').id;
  });

  afterAll(async () => {
    await visit?.close();
    await look?.close();
    await browser?.close();
    await service?.stop();
    folder.remove();
  });

  it.each(PAGES)('%s is whole and accessible at every width', async (name, path, heading) => {
    const [first] = await listed('code=OK&userId=1&limit=1');
    const { page } = look;
    await page.emulateMedia({ colorScheme: 'light' });
    await look.goTo(path.replace('RECALL', first?.id ?? '').replace('COMPARISON', comparison));
    for (const [width, scheme] of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: scheme });
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      // Between them nothing but the width differs.
      if (width === 768) await look.expectWhole();
      else await look.expectAccessible();
      if (width !== 768) await look.picture(`page-${name}-${width}-${scheme}`);
    }
    expect(look.faults).toEqual([]);
  });

  it('keep the name of a row in sight where its table is wider than the screen', async () => {
    const { page } = look;
    await page.setViewportSize({ width: 390, height: 900 });
    await look.goTo('/versions');
    await look.settled();
    const cell = page.locator('table tbody tr > :first-child').first();
    const left = async () => (await cell.boundingBox())?.x;
    const before = await left();
    // The nearest box around the table that it is too wide for.
    const moved = await cell.evaluate((element) => {
      for (let box = element.parentElement; box !== null; box = box.parentElement) {
        box.scrollLeft = 50;
        if (box.scrollLeft > 0) return box.scrollLeft;
      }
      return 0;
    });
    expect([await left(), moved]).toEqual([before, 50]);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it('take less than 350 KiB for the first one', async () => {
    const first = await Visit.open(browser, service.httpUrl);
    const wire = await first.context.newCDPSession(first.page);
    let bytes = 0;
    await wire.send('Network.enable');
    wire.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await first.goTo('/');
    await first.page.getByRole('figure').first().waitFor();
    await first.settled();
    expect(bytes).toBeGreaterThan(50 * 1024);
    expect(bytes).toBeLessThan(FIRST_LOAD_MAX);
    await first.close();
  });

  it('lead back from an unknown address', async () => {
    const { page } = visit;
    await visit.goTo('/nosuch');
    await page.getByRole('heading', { name: 'No such page' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(visit.faults).toEqual([]);
  });

  it('show a saved set whatever came after it', async () => {
    const { page } = visit;
    const old = (await listed('userId=3&limit=3')).map(({ id }) => id);
    await api('sets', { name: 'three of 3', recallIds: old });
    for (let at = 0; at < 60; at += 1) await recallAs('5', at);
    await visit.goTo('/recalls');
    await page.getByRole('link', { name: 'three of 3 (3)' }).click();
    await page.getByText('The set “three of 3”').waitFor();
    await page.getByText('3 shown').waitFor();
    for (const id of old) {
      expect(await page.locator(`a[href="#/recalls/${id}"]`).count()).toBe(1);
    }
    await page.getByRole('button', { name: 'Remove the set three of 3' }).click();
    await page.getByRole('button', { name: 'Remove it' }).click();
    await page.getByText('The set “three of 3”').waitFor({ state: 'detached' });
  });

  it('find recalls by scene, order and page, all in the address', async () => {
    const { page } = visit;
    await visit.goTo('/recalls?scene=daypart=night&order=slowest&minMs=0.01');
    const cells = page.getByRole('table', { name: 'Recalls' });
    await cells.getByText('daypart night').first().waitFor();
    expect(await cells.getByText('daypart morning').count()).toBe(0);
    const all = await listed('scene=daypart%3Dnight&order=slowest&limit=500');
    const [slowest] = all;
    expect(await cells.getByRole('link').first().getAttribute('href')).toBe(
      `#/recalls/${slowest?.id}`,
    );
    await visit.goTo('/recalls');
    await page.getByText('50 shown').waitFor();
    await page.getByRole('link', { name: 'Older' }).click();
    await page.getByText('To the beginning').waitFor();
    expect(page.url()).toContain('before=');
    await page.goBack();
    await page.getByText('50 shown').waitFor();
    expect(page.url()).not.toContain('before=');
  });

  it('keep time and filters from view to view, and over a reload', async () => {
    const { page } = visit;
    await visit.goTo('/composition?span=1h&scene=daypart=night');
    await page.getByRole('button', { name: 'Take out Scene daypart night' }).waitFor();
    await page.getByRole('button', { name: 'films', exact: true }).or(anyValue()).first().click();
    await page.getByRole('button', { name: /^Take out Items with category/ }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Take out Scene daypart night' }).waitFor();
    await page.getByRole('button', { name: /^Take out Items with category/ }).waitFor();
    expect(page.url()).toContain('span=1h');
    expect(visit.faults).toEqual([]);
  });

  it('keep to a group of users that callers name in the scene', async () => {
    const { page } = look;
    await look.goTo('/composition');
    await page.getByRole('button', { name: 'Add a filter' }).click();
    await page.getByRole('combobox', { name: 'Field' }).click();
    await page.getByRole('option', { name: 'User group' }).click();
    await page.getByRole('combobox', { name: 'Is' }).fill('new');
    const asked = page.waitForRequest(/composition\?.*scene=user_group%3Dnew/);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Take out User group new' }).waitFor();
    await asked;
  });

  const anyValue = (): Locator =>
    visit.page
      .getByRole('table', { name: /^Items by/ })
      .getByRole('cell')
      .getByRole('button');

  it('keep a question in SQL, save it for all, and cancel it', async () => {
    const { page } = visit;
    const question = () => page.getByRole('textbox', { name: 'Question', exact: true });
    await visit.goTo('/ask');
    await question().fill('SELECT 41 + 1 AS answer, NULL AS nothing, 1234567 AS many');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText(/^1 rows in \d+ ms/).waitFor();
    await page.getByRole('cell', { name: '1,234,567' }).waitFor();
    await visit.goTo('/live');
    await page.goBack();
    await expect.poll(() => question().innerText()).toContain('41 + 1');
    await page.getByLabel('Save it as').fill('the answer');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const saved = page.getByRole('button', { name: 'the answer', exact: true });
    await saved.waitFor();
    await question().fill('SELECT count(*) FROM range(1000000) a, range(1000000) b');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Ask', exact: true }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await saved.click();
    await expect.poll(() => question().innerText()).toContain('41 + 1');
    await visit.goTo(`/sql?sql=${encodeURIComponent('SELECT 7 AS seven')}`);
    await page.getByRole('heading', { name: 'Ask in SQL' }).waitFor();
    await expect.poll(() => question().innerText()).toBe('SELECT 7 AS seven');
  });

  it('complete names of tables in a question, and let the keyboard go on', async () => {
    const { page } = visit;
    await visit.goTo('/ask');
    const question = page.getByRole('textbox', { name: 'Question', exact: true });
    await question.fill('');
    await question.pressSequentially('SELECT count(*) FROM recall_');
    await page.getByRole('option', { name: /^recall_fact/ }).click();
    expect(await question.innerText()).toBe('SELECT count(*) FROM recall_fact');
    await visit.expectAccessible();
    await page.keyboard.press('Control+Enter');
    await page.getByText(/^1 rows in \d+ ms/).waitFor();
    await question.focus();
    await page.keyboard.press('Tab');
    expect(await question.evaluate((field) => field.matches(':focus'))).toBe(false);
    expect(await question.innerText()).toBe('SELECT count(*) FROM recall_fact');
  });

  it('say that all failed, and keep nothing of it', async () => {
    const { page } = visit;
    await visit.goTo('/compare?left=base');
    const right = page.getByRole('group', { name: 'Right settings' });
    await right.getByRole('combobox', { name: 'Adapter' }).fill('ab'.repeat(32));
    await page.getByLabel('or these users').fill('1 2');
    const before = (await api<{ comparisons: object[] }>('comparisons')).comparisons.length;
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByText('All 2 users failed').waitFor();
    expect(await page.getByText('0 %', { exact: true }).count()).toBe(0);
    const after = (await api<{ comparisons: object[] }>('comparisons')).comparisons.length;
    expect(after).toBe(before);
  });

  it('ask which item is meant where a title fits several', async () => {
    const { page } = visit;
    const [first] = await listed('code=OK&userId=1&limit=1');
    await visit.goTo(`/recalls/${first?.id}`);
    await page.getByRole('combobox', { name: 'Item' }).fill('Moka');
    await page.getByRole('button', { name: 'Explain' }).click();
    const choice = page.getByRole('status').filter({ hasText: 'Which one?' });
    await choice.getByRole('button').first().click();
    await page.getByRole('alert').filter({ hasText: 'Moka' }).waitFor();
  });

  it('answer the questions of analysts in six actions and without SQL', async () => {
    const { page } = look;
    await page.setViewportSize({ width: 1280, height: 900 });
    let actions = 0;
    const click = async (target: Locator) => {
      actions += 1;
      await target.click();
    };
    const fill = async (target: Locator, text: string) => {
      actions += 1;
      await target.fill(text);
    };
    const ask = (question: string) =>
      click(page.getByRole('navigation', { name: 'Questions' }).getByText(question));
    const table = (name: string | RegExp) => page.getByRole('table', { name });
    const questions: Readonly<Record<string, () => Promise<void>>> = {
      'share of a category by scene': async () => {
        await ask('What share has a category, by scene?');
        await table('category by daypart, shares').waitFor();
      },
      'eligible and never recalled': async () => {
        await ask('Which eligible items were never recalled?');
        await page.getByRole('figure').filter({ hasText: 'Eligible, never recalled' }).waitFor();
      },
      'where versions differ most': async () => {
        await ask('Where do two versions differ most?');
        await table('Versions').waitFor();
      },
      'why a recall changed': async () => {
        await ask("Why did a user's recall change?");
        await fill(page.getByRole('combobox', { name: 'User' }), '1');
        await click(page.getByRole('button', { name: 'Show', exact: true }));
        await page.getByRole('figure').filter({ hasText: 'Distance of the two' }).waitFor();
        await page.getByText('Behaviours since').waitFor();
        await table('Items of both recalls').waitFor();
      },
      'clicks by version and position': async () => {
        await ask('What is clicked, by version and position?');
        await table('Outcome by version and position').waitFor();
      },
      'who lost reach': async () => {
        await ask('Who lost reach after an import?');
        await table('Reach before and after').waitFor();
      },
      'why an item is absent': async () => {
        await ask('Why is an item not in a recall?');
        await click(table('Recalls').getByRole('link').first());
        await fill(page.getByRole('combobox', { name: 'Item' }), '1');
        await click(page.getByRole('button', { name: 'Explain' }));
        await page.getByRole('alert').first().waitFor();
      },
      'coverage and Gini over time': async () => {
        await page.getByRole('figure').filter({ hasText: 'Gini of exposure' }).waitFor();
        await page.getByRole('img', { name: 'Coverage of live items over the span' }).waitFor();
      },
      'where an ad stands': async () => {
        await ask('Where does an item stand, and who gets it?');
        await fill(page.getByRole('textbox', { name: 'ID, or a part of the title' }), 'Espresso');
        await click(page.getByRole('button', { name: 'Find' }));
        await click(page.getByRole('link', { name: /^Espresso/ }).first());
        await page.getByRole('list', { name: 'Place in the tree' }).waitFor();
        await table('Neighbours').waitFor();
      },
      'export of the data': async () => {
        await ask('Export the data of a day');
        const file = page.waitForEvent('download');
        await click(page.getByRole('button', { name: 'Export CSV' }));
        expect((await file).suggestedFilename()).toBe('tessera.csv');
      },
    };
    for (const [name, answer] of Object.entries(questions)) {
      await look.goTo('/');
      await page.getByRole('navigation', { name: 'Questions' }).waitFor();
      actions = 0;
      await answer();
      expect([name, actions <= ACTIONS_MAX]).toEqual([name, true]);
    }
    expect(look.faults).toEqual([]);
  });
});
