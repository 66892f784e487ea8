/** Every page of the console at every width, and what is saved of it. */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecallPage } from '../../apps/console/src/api-types.js';
import { BROWSER_PATH, Visit } from './browser.js';
import { ConsoleVisits } from './console-visits.js';
import { followedVersions, RANKING_VERSIONS, rankedPage } from './ranking-answers.js';

/** Bytes that the first page may take to load, as they come over the wire. */
const FIRST_LOAD_MAX = 350 * 1024;

if (BROWSER_PATH === undefined) {
  console.log('console-pages.system.spec: skipped, Chromium is absent (apt-get install chromium)');
}

/** Pages with what stands above them; RECALL, VALUED and COMPARISON are IDs. */
const PAGES: readonly (readonly [name: string, path: string, heading: string | RegExp])[] = [
  ['overview', '/', 'Overview'],
  ['composition', '/composition', 'Composition'],
  ['reach', '/reach?by=brand', 'Reach'],
  ['unreached', '/reach?show=unreached', 'Reach'],
  ['versions', '/versions', 'Versions'],
  ['outcome', '/versions?show=outcome', 'Versions'],
  ['bids', '/auction', 'Auction'],
  ['spend', '/auction?show=spend&by=brand', 'Auction'],
  ['arrivals', '/auction?show=arrivals', 'Auction'],
  ['exploration', '/auction?show=exploration', 'Auction'],
  ['heads', '/auction?show=calibration', 'Auction'],
  ['outcomes', '/outcomes?what=valuation%3Decpm', 'Outcomes'],
  ['change', '/change?user=1', 'Change of a user'],
  ['items', '/items', 'Items'],
  ['ad', '/items/80', /espresso/i],
  ['ask', '/ask', 'Ask in SQL'],
  ['recalls', '/recalls', 'Recorded recalls'],
  ['recall', '/recalls/RECALL', 'Recall for user 1'],
  ['valued', '/recalls/VALUED', 'Recall for user 1'],
  ['beside', '/try?valuation=ecpm&plain=RECALL&other=VALUED', 'Try a recall'],
  ['ranked', '/recalls/ranked', 'Recall for user 1'],
  ['beside-ranked', '/try?rank=ranking&plain=VALUED&other=ranked', 'Try a recall'],
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
  [1920, 'dark'],
] as const;

describe.skipIf(BROWSER_PATH === undefined)('the pages of the console', () => {
  let visits: ConsoleVisits;
  let look: Visit;
  let comparison = '';
  let valued = '';

  beforeAll(async () => {
    visits = await ConsoleVisits.open();
    look = visits.look;
    const compared = { left: { widths: [16] }, right: { widths: [4] }, sample: 4, seed: 7 };
    const worth = { userId: '1', valuation: { name: 'ecpm' }, explore: { slots: 3, seed: 7 } };
    valued = (await visits.api<{ id: string }>('recalls', worth)).id;
    comparison = (await visits.api<{ id: string }>('comparisons', compared)).id;
    const ranked = rankedPage(await visits.api<RecallPage>(`recalls/${valued}`));
    await look.page.route('**/console/api/recalls/ranked', (route) =>
      route.fulfill({ json: ranked }),
    );
    await look.page.route('**/console/api/adapters', (route) =>
      route.fulfill({ json: RANKING_VERSIONS }),
    );
    await look.page.route('**/console/api/adapters/changes**', (route) =>
      route.fulfill({ json: followedVersions(Date.now()) }),
    );
  });

  afterAll(() => visits?.close());

  it.each(PAGES)('%s is whole and accessible at every width', async (name, path, heading) => {
    const recalls = await visits.listed('code=OK&userId=1&limit=2');
    const { page } = look;
    await page.emulateMedia({ colorScheme: 'light' });
    const ids = { RECALL: recalls.at(-1)?.id ?? '', VALUED: valued, COMPARISON: comparison };
    const named = (text: string, [word, id]: [string, string]) => text.replace(word, id);
    await look.goTo(Object.entries(ids).reduce(named, path));
    for (const [width, scheme] of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: scheme });
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      // Beside the width nothing differs but colours.
      if (width === 390) await look.expectAccessible();
      else if (width === 768) await look.expectWhole();
      else await look.expectAccessible(['color-contrast']);
      if (width !== 768) await look.picture(`page-${name}-${width}-${scheme}`);
    }
    expect(look.faults).toEqual([]);
  });

  it('show the items of a user by likelihood beside those by value', async () => {
    const { page } = look;
    await look.goTo('/try?user=2');
    await page.getByRole('combobox', { name: 'Valuation', exact: true }).fill('ecpm');
    await page.keyboard.press('Escape');
    await page.getByText('Further settings').click();
    await page.getByLabel('Weights of terms').fill('bid=3');
    await page.getByRole('button', { name: 'By likelihood and by value' }).click();
    await page.getByRole('heading', { name: 'Side by side' }).waitFor();
    const bars = (side: string) =>
      page
        .getByRole('region', { name: side, exact: true })
        .getByLabel(/^Parts of the value: score/);
    expect([await bars('By likelihood').count(), await bars('By value').count()]).toEqual([0, 20]);
    expect(look.faults).toEqual([]);
  });

  it('show heads, terms and places of a ranking beside the recall as it was', async () => {
    const { page } = look;
    await look.goTo(`/try?rank=ranking&plain=${valued}&other=ranked`);
    const side = (name: string) => page.getByRole('region', { name, exact: true });
    await side('Ranked').waitFor();
    const bars = side('Ranked').getByLabel(/^Parts of the ranked value: /);
    const columns = (name: string) => side(name).getByRole('columnheader').allInnerTexts();
    const own = ['Recalled', 'Item', 'Ranked value', 'click', 'add-to-basket', 'purchase'];
    expect([await bars.count(), (await columns('Ranked')).slice(1, 7)]).toEqual([10, own]);
    expect(await columns('By value')).not.toContain('click');
    const ownOrder = page.getByPlaceholder("the recall's own order");
    if (!(await ownOrder.isVisible())) await page.getByText('Further settings').click();
    await ownOrder.click();
    await page
      .getByRole('option', { name: /click, add-to-basket, purchase/ })
      .first()
      .waitFor();
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

  it('are saved for a slide: a chart as a picture, a table for a spreadsheet', async () => {
    const { page } = look;
    await look.goTo('/composition');
    await look.settled();
    const saved = async (name: string) => {
      const file = page.waitForEvent('download');
      await page.getByRole('button', { name }).click();
      return readFileSync(await (await file).path());
    };
    const chart = 'Save Share of each category over time as';
    const svg = (await saved(`${chart} SVG`)).toString();
    expect(svg).toMatch(/^<svg .*coffee/s);
    expect(svg).not.toContain('var(--');
    const png = await saved(`${chart} PNG`);
    expect(png.subarray(0, 4).toString('latin1')).toBe('\x89PNG');
    // Width and height of the first chunk (PNG, 11.2.2): twice those of the chart.
    expect(png.readUInt32BE(16) / png.readUInt32BE(20)).toBeGreaterThan(2);
    const csv = (await saved('Save Items by category as CSV')).toString();
    expect(csv).toContain('\ufeffcategory,"Recalled, items",Share\r\ncoffee,9000,0.25\r\n');
    expect(look.faults).toEqual([]);
  });

  it('take less than 350 KiB for the first one', async () => {
    const first = await Visit.open(visits.browser, visits.service.httpUrl);
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
});
