/** The addresses of the console, and the questions of analysts. */

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../libs/testing/src/index.js';
import { BROWSER_PATH, type Visit } from './browser.js';
import { ConsoleVisits } from './console-visits.js';

/** Clicks, filled fields and keys, from the first page on. */
const ACTIONS_MAX = 6;

if (BROWSER_PATH === undefined) {
  console.log('console-ways: skipped, Chromium is absent (apt-get install chromium)');
}

describe.skipIf(BROWSER_PATH === undefined)('the ways through the console', () => {
  let visits: ConsoleVisits;
  let visit: Visit;
  /** Sees rich answers of the analysis. */
  let look: Visit;

  beforeAll(async () => {
    visits = await ConsoleVisits.open();
    ({ visit, look } = visits);
  });

  afterAll(() => visits?.close());

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
    const old = (await visits.listed('userId=3&limit=3')).map(({ id }) => id);
    await visits.api('sets', { name: 'three of 3', recallIds: old });
    const five = Array.from({ length: 6 }, () => '5');
    for (let round = 0; round < 9; round += 1) await visits.recallsAs(five, round);
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
    const all = await visits.listed('scene=daypart%3Dnight&order=slowest&limit=500');
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
    // Facts of the last seconds may be missing.
    const counted = 'analysis/composition?by=category&scene=daypart%3Dnight';
    const values = async () =>
      (await visits.api<{ values: { value: string }[] }>(counted)).values.map(({ value }) => value);
    await until('facts of the items', async () => (await values()).some((one) => one !== ''));
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
    await page.getByText(/^1 rows in [\d,]+ ms/).waitFor();
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
    await page.getByText(/^1 rows in [\d,]+ ms/).waitFor();
    await question.focus();
    await page.keyboard.press('Tab');
    expect(await question.evaluate((field) => field.matches(':focus'))).toBe(false);
    expect(await question.innerText()).toBe('SELECT count(*) FROM recall_fact');
  });

  it('say that no behaviour is a click, and what there is instead', async () => {
    const { page } = visit;
    const did = (action: string, eventId: string) => {
      const behaviours = [{ userId: '1', eventId, itemId: '5', action, timeMs: Date.now() }];
      return visits.service.post({ behaviours }, undefined, '/v1/behaviours/append');
    };
    expect((await did('clik', 'a')).status).toBe(200);
    const told = page.getByText('expected one of behaviours.clickActions, got clik');
    await until('the overview says it', async () => {
      await visit.goTo('/');
      await page.reload();
      await visit.settled();
      return (await told.count()) === 1;
    });
    await visit.expectAccessible();
  });

  it('say that all failed, and keep nothing of it', async () => {
    const { page } = visit;
    await visit.goTo('/compare?left=base');
    const right = page.getByRole('group', { name: 'Right settings' });
    await right.getByRole('combobox', { name: 'Adapter' }).fill('ab'.repeat(32));
    await page.getByLabel('or these users').fill('1 2');
    const before = (await visits.api<{ comparisons: object[] }>('comparisons')).comparisons.length;
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByText('All 2 users failed').waitFor();
    expect(await page.getByText('0 %', { exact: true }).count()).toBe(0);
    const after = (await visits.api<{ comparisons: object[] }>('comparisons')).comparisons.length;
    expect(after).toBe(before);
  });

  it('ask which item is meant where a title fits several', async () => {
    const { page } = visit;
    const [first] = await visits.listed('code=OK&userId=1&limit=1');
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
