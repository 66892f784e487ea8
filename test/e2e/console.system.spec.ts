/** The console in a real browser, against the built service with the demo model. */

import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { BROWSER_PATH, launchBrowser, Visit } from './browser.js';
import { Service } from './service.js';

/** Shown of those near where an ad lands. */
const NEIGHBOURS = 12;
const folder = temporaryFolder({});
const variables = {
  TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
  TESSERA_CATALOGUE_CHANGES_PATH: join(folder.path, 'changes'),
  TESSERA_BEHAVIOURS_STORE: 'embedded',
  TESSERA_BEHAVIOURS_PATH: join(folder.path, 'behaviours'),
  TESSERA_INSPECTION_PATH: join(folder.path, 'inspection'),
  TESSERA_INSPECTION_PERCENT: '0',
  TESSERA_CATALOGUE_CODEBOOKS_PATH: 'test/fixtures/sids',
  TESSERA_RELEVANCE_PATH: 'test/fixtures/relevance',
  TESSERA_RELEVANCE_PROMPT_TOKENS_MAX: '300',
};

if (BROWSER_PATH === undefined) {
  console.log('console.system.spec: skipped, Chromium is absent (apt-get install chromium)');
}

describe.skipIf(BROWSER_PATH === undefined)('the console', () => {
  let service: Service;
  let browser: Browser;
  let visit: Visit;

  beforeAll(async () => {
    [service, browser] = await Promise.all([Service.start(variables), launchBrowser()]);
    visit = await Visit.open(browser, service.httpUrl);
  });

  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await service?.stop();
    folder.remove();
  });

  /** A field that suggests: its list has the same label. */
  const field = (label: string) =>
    visit.page.getByLabel(new RegExp(`^${label}( \\*)?$`)).and(visit.page.locator('input'));

  /** A recall of the demo, recorded; its ID. */
  async function recorded(body: object): Promise<string> {
    const { status, json } = await service.post({ inspect: true, ...body });
    expect(status).toBe(200);
    const path = `/console/api/recalls?requestId=${json.requestId}`;
    const reply = await fetch(service.httpUrl + path);
    const { recalls } = (await reply.json()) as { recalls: { id: string }[] };
    return recalls[0]?.id ?? '';
  }

  it('tries a recall and shows its items, the tree and where the time went', async () => {
    const { page } = visit;
    await visit.goTo('/try');
    await field('User').fill('1');
    // An open list of names lies over the settings below it.
    await page.keyboard.press('Escape');
    await page.getByText('Further settings').click();
    await page.getByLabel('Beam widths').fill('64');
    await visit.picture('try-light');
    await visit.expectAccessible();
    await page.getByRole('button', { name: 'Recall', exact: true }).click();
    await page.getByRole('heading', { name: 'Recall for user 1' }).waitFor();
    const tree = page.getByRole('img', { name: /^Tree of the search/ });
    await tree.waitFor();
    expect(Number(await tree.getAttribute('data-nodes'))).toBeGreaterThan(100);
    await page.getByRole('button', { name: '1-1-0' }).click();
    await page.getByText(/SID 1-1-0: a path that was found; probability .* items below/).waitFor();
    await visit.picture('recall-light');
    // README.md shows it.
    await page.getByRole('heading', { level: 1 }).scrollIntoViewIfNeeded();
    await visit.picture('console', false);
    await visit.expectAccessible();
    expect(visit.faults).toEqual([]);
  });

  it('walks the tree by keys', async () => {
    const { page } = visit;
    await visit.goTo(`/recalls/${await recorded({ userId: '2', widths: [16] })}`);
    const tree = page.getByRole('img', { name: /^Tree of the search/ });
    await tree.focus();
    await tree.press('ArrowRight');
    await page.getByText(/^SID \d+: kept for the next step/).waitFor();
    await tree.press('ArrowRight');
    await page.getByText(/^SID \d+-\d+: kept for the next step/).waitFor();
    await tree.press('0');
    await visit.picture('tree-whole-light');
  });

  it('says why not, for an item pruned, kept out, returned and unknown', async () => {
    const { page } = visit;
    const eligibility = { denied: ['75'] };
    const id = await recorded({ userId: '1', widths: [4], resultCount: 5, eligibility });
    await visit.goTo(`/recalls/${id}`);
    const answer = (await (await fetch(`${service.httpUrl}/console/api/recalls/${id}`)).json()) as {
      recall: { answer: { items: { itemId: string }[] } };
    };
    const returned = answer.recall.answer.items[0]?.itemId ?? '';
    const cases = [
      ['75', 'not-eligible', 'denied'],
      ['1', 'pruned', 'gave its path up in step'],
      [returned, 'returned', 'at rank 1'],
      ['<b>nobody</b>', 'not-in-catalogue', 'Check the ID'],
    ] as const;
    for (const [item, verdict, sentence] of cases) {
      await field('Item').fill(item);
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByRole('alert').filter({ hasText: verdict }).waitFor();
      await page.getByText(sentence).first().waitFor();
      if (verdict === 'pruned') await visit.picture('why-not-light');
    }
    expect(visit.faults).toEqual([]);
  });

  it('lists what was recorded, finds by user and keeps notes', async () => {
    const { page } = visit;
    const id = await recorded({ userId: '7' });
    await visit.goTo('/recalls?userId=7');
    await page.getByRole('cell', { name: '7', exact: true }).first().waitFor();
    await visit.picture('recalls-light');
    await visit.expectAccessible();
    await visit.goTo(`/recalls/${id}`);
    await page.getByLabel('New note').fill('<img src=x onerror=alert(1)> is only text');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('<img src=x onerror=alert(1)> is only text').waitFor();
    expect(visit.faults).toEqual([]);
  });

  it('scores texts for a query and shows what was left out', async () => {
    const { page } = visit;
    await visit.goTo('/relevance');
    await page.getByLabel(/^Query/).fill('red shoes');
    await page.getByLabel('Time, ms').fill('60000');
    const texts = ['shoes in red', 'sea '.repeat(300), 'a'];
    await page.getByRole('textbox', { name: 'Texts' }).fill(texts.join('\n'));
    await page.getByRole('button', { name: 'Score' }).click();
    await page.getByText('template qwen3-reranker').waitFor();
    expect(await page.getByText(/^last \d+ tokens of the document left out$/).count()).toBe(1);
    expect(await page.getByText('whole', { exact: true }).count()).toBe(2);
    await visit.picture('relevance-light');
    await visit.expectAccessible();
    await visit.goTo(`/recalls/${await recorded({ userId: '5', resultCount: 3 })}`);
    await page.getByRole('link', { name: 'Relevance of its items' }).click();
    await page.getByLabel(/^Query/).fill('a card');
    await page.getByLabel('Time, ms').fill('60000');
    await page.getByRole('button', { name: 'Score' }).click();
    await page.getByText('template qwen3-reranker').waitFor();
    await visit.picture('relevance-items-light');
    expect(await page.getByText('whole', { exact: true }).count()).toBe(3);
    expect(visit.faults).toEqual([]);
  });

  it('shows how the service fares', async () => {
    const { page } = visit;
    await visit.goTo('/live');
    await page.getByRole('img', { name: /Time of a recall/ }).waitFor();
    await visit.picture('live-light');
    await visit.expectAccessible();
  });

  it('shows a user, and erases the user when that is confirmed', async () => {
    const { page } = visit;
    await recorded({ userId: '9' });
    await visit.goTo('/users/9');
    await page.getByRole('heading', { name: 'Behaviours, newest first' }).waitFor();
    await page
      .getByRole('img', { name: /Tokens kept/ })
      .or(page.getByText('Version'))
      .first()
      .waitFor();
    await visit.picture('user-light');
    await visit.expectAccessible();
    await page.getByRole('button', { name: 'Erase this user' }).click();
    await page.getByRole('button', { name: 'Erase', exact: true }).click();
    await page.getByText('User 9 is erased').waitFor();
    expect(await page.getByText('That did not work').count()).toBe(0);
    await visit.goTo('/recalls?userId=9');
    await page.getByText('No recall fits').waitFor();
    await visit.picture('recalls-empty-light');
  });

  it('shows the catalogue', async () => {
    const { page } = visit;
    await visit.goTo('/catalogue');
    await page.getByRole('figure').filter({ hasText: 'Live items' }).getByText('700').waitFor();
    await visit.picture('catalogue-light');
    await visit.expectAccessible();
  });

  it('shows where an ad of a text lands, and who lives beside it', async () => {
    const { page } = visit;
    await visit.goTo('/catalogue');
    const show = page.getByRole('button', { name: 'Show its place' });
    expect(await show.isDisabled()).toBe(true);
    const text = page.getByLabel('Text of an ad');
    await text.fill('Nordlys hand cream 4 pack');
    await show.click();
    // The codes that the fixture has for the text.
    await page.getByText('It goes to semantic ID 7-2-7').waitFor();
    const neighbours = page.getByRole('table', { name: 'Neighbours' });
    const [first = ''] = await neighbours.getByRole('row').nth(1).getByRole('cell').allInnerTexts();
    expect(first).not.toBe('');
    expect(await neighbours.getByRole('row').count()).toBe(1 + NEIGHBOURS);
    await visit.picture('landing-light');
    await visit.expectAccessible();
    await text.fill('-- !');
    await show.click();
    await page.getByText('expected a text with a word, or a part of one').waitFor();
  });

  it('compares two settings for some users, user by user', async () => {
    const { page } = visit;
    await visit.goTo('/compare');
    await page.getByLabel('Users drawn by chance').fill('12');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('figure').filter({ hasText: 'Overlap, mean of the users' }).waitFor();
    await page.getByRole('heading', { name: 'Items by category' }).waitFor();
    await visit.picture('compare-light');
    await visit.expectAccessible();
    expect(visit.faults).toEqual([]);
  });

  it('answers questions in SQL, and refuses those that write', async () => {
    const { page } = visit;
    await visit.goTo('/sql');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText(/rows in [\d,]+ ms/).waitFor();
    await visit.picture('sql-light');
    await visit.expectAccessible();
    const question = page.getByRole('textbox', { name: 'Question', exact: true });
    const wire = await visit.context.newCDPSession(page);
    // The next question is written before the page has got over the one before it.
    await wire.send('Emulation.setCPUThrottlingRate', { rate: 20 });
    await question.fill('DELETE FROM recalls');
    await question.press('Control+Enter');
    await question.fill('SELECT count(*) AS n FROM recalls');
    await page.getByText('PIVOT with IN (...), got another statement').waitFor();
    await wire.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await visit.picture('sql-refused-light');
    expect(await question.innerText()).toBe('SELECT count(*) AS n FROM recalls');
    const file = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const fetched = await file;
    expect(fetched.suggestedFilename()).toBe('tessera.csv');
  });

  it('says what to do when the service is gone, and goes on when it is back', async () => {
    const { page } = visit;
    await visit.goTo('/recalls');
    await page.getByRole('table').waitFor();
    await page.route('**/console/api/**', (route) => route.abort());
    await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
    await visit.picture('gone-light');
    await page.unroute('**/console/api/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await visit.goTo('/recalls/no-such-recall');
    await page.getByText('expected the ID of one that is kept').waitFor();
  });
});
