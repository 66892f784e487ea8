/** Permissions, and versions of adapters, in a real browser against the built service. */

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { AdapterClient } from '../../tools/served/adapter-client.js';
import { BROWSER_PATH, launchBrowser, Visit } from './browser.js';
import { CLIENT_ID, CLIENT_SECRET, OidcIssuer } from './oidc-issuer.js';
import { PrefixProxy } from './prefix-proxy.js';
import { writeRandomAdapter } from './random-adapter.js';
import { Service } from './service.js';

const folder = temporaryFolder({});
const SCOPES = {
  ann: ['read'],
  olga: ['operate'],
  abe: ['admin'],
  trainer: ['push', 'read'],
  server: ['recall'],
};
const tokenOf = (name: string) => `${name}-token`;

function variables(issuer: OidcIssuer) {
  const place = (name: string) => join(folder.path, name);
  const grants = Object.entries(SCOPES).map(([name, scopes]) => {
    const sha256 = createHash('sha256').update(tokenOf(name)).digest('hex');
    return { name, scopes, sha256 };
  });
  writeFileSync(place('tokens.json'), JSON.stringify(grants));
  writeFileSync(place('secret'), CLIENT_SECRET);
  return {
    TESSERA_CATALOGUE_CACHE_PATH: place('cache'),
    TESSERA_CATALOGUE_CHANGES_PATH: place('changes'),
    TESSERA_BEHAVIOURS_STORE: 'embedded',
    TESSERA_BEHAVIOURS_PATH: place('behaviours'),
    TESSERA_INSPECTION_PATH: place('inspection'),
    TESSERA_INSPECTION_PERCENT: '0',
    TESSERA_ADAPTERS_PATH: place('adapters'),
    TESSERA_ACCESS_TOKENS_PATH: place('tokens.json'),
    TESSERA_OIDC_ISSUER: issuer.url,
    TESSERA_OIDC_CLIENT_ID: CLIENT_ID,
    TESSERA_OIDC_CLIENT_SECRET_PATH: place('secret'),
  };
}

if (BROWSER_PATH === undefined) {
  console.log('console-access.system.spec: skipped, Chromium is absent (apt-get install chromium)');
}

describe.skipIf(BROWSER_PATH === undefined)('the console, where people log in', () => {
  let issuer: OidcIssuer;
  let service: Service;
  let browser: Browser;
  let visit: Visit;

  beforeAll(async () => {
    issuer = await OidcIssuer.start({ olga: ['operate'], stranger: ['staff'] });
    [service, browser] = await Promise.all([Service.start(variables(issuer)), launchBrowser()]);
    service.token = tokenOf('server');
    visit = await Visit.open(browser, service.httpUrl);
  });

  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await service?.stop();
    await issuer?.stop();
    folder.remove();
  });

  const tokenField = (of: Visit = visit) =>
    of.page.getByLabel(/^Token( \*)?$/).and(of.page.locator('input'));

  async function logIn(name: string, of: Visit = visit): Promise<void> {
    await tokenField(of).fill(tokenOf(name));
    await of.page.getByRole('button', { name: 'Log in', exact: true }).click();
    await of.page
      .getByRole('banner')
      .getByText(new RegExp(`^${name} \\(`))
      .waitFor();
  }

  async function logOut(): Promise<void> {
    await visit.page.getByRole('button', { name: 'Log out' }).click();
    await visit.page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
  }

  it('asks for a token first, says no to a wrong one, and comes back where it was', async () => {
    const { page } = visit;
    await visit.goTo('/users/5');
    await tokenField().fill('no-such-token');
    await visit.expectAccessible();
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'expected a known token' }).waitFor();
    await visit.picture('login-refused-light');
    await visit.expectAccessible();
    await logIn('ann');
    await page.getByRole('heading', { name: 'User 5' }).waitFor();
    expect(visit.faults).toEqual([]);
  });

  it('tells whoever may only read what erasing and rolling back would take', async () => {
    const { page } = visit;
    await visit.goTo('/users/5');
    const erase = page.getByRole('button', { name: 'Erase this user' });
    await page.getByText('Needs the role operate; you have read.').waitFor();
    expect(await erase.isDisabled()).toBe(true);
    await visit.picture('role-read-user-light');
    await visit.expectAccessible();
    await visit.goTo('/catalogue');
    await page.getByText('Needs the role admin; you have read.').first().waitFor();
    expect(await page.getByRole('button', { name: 'Roll back' }).isDisabled()).toBe(true);
    // Not only hidden: what the page does not offer is refused as well.
    const status = await page.evaluate(async () => {
      const headers = { 'x-tessera-console': '1' };
      return (await fetch('/console/api/users/5', { method: 'DELETE', headers })).status;
    });
    expect(status).toBe(403);
    await logOut();
    expect(visit.faults).toEqual([]);
  });

  it('lets somebody in with the provider, to erase and not to roll back', async () => {
    const { page } = visit;
    await visit.goTo('/users/6');
    await page.getByRole('button', { name: 'Log in with your organisation' }).click();
    await page.getByRole('button', { name: 'stranger' }).click();
    await page.getByRole('alert').filter({ hasText: 'you have no role here' }).waitFor();
    await visit.picture('login-no-role-light');
    await visit.goTo('/users/6');
    // The same document until then: a click may come before its page has changed.
    await page.reload();
    await page.getByRole('button', { name: 'Log in with your organisation' }).click();
    await page.getByRole('button', { name: 'olga' }).click();
    await page.getByText('olga (operate)').waitFor();
    await page.getByRole('heading', { name: 'User 6' }).waitFor();
    await page.getByRole('button', { name: 'Erase this user' }).click();
    await page.getByRole('button', { name: 'Erase', exact: true }).click();
    await page.getByText('User 6 is erased').waitFor();
    await visit.goTo('/catalogue');
    await page.getByText('Needs the role admin; you have operate.').first().waitFor();
    expect(visit.faults).toEqual([]);
    await logOut();
  });

  const CALL_MS = 60_000;
  const TRAINED = ['test/fixtures/adapters/trained-demo', 'test/fixtures/finetuned'] as const;
  const short = (digest: string) => digest.slice(0, 10);

  /** Pushes a folder as the trainer does; its digest. */
  async function pushed(from: string): Promise<string> {
    const reply = await fetch(`${service.httpUrl}/health`);
    const { versions } = (await reply.json()) as { versions: { model: string } };
    const client = new AdapterClient(service.grpcAddress, tokenOf('trainer'));
    try {
      const header = { name: 'main', baseModel: versions.model, remark: `from ${from.slice(-12)}` };
      const answer = await client.pushFolder<{ version: { digest: string } }>(
        from,
        header,
        CALL_MS,
      );
      return answer.version.digest;
    } finally {
      client.close();
    }
  }

  async function itemsOf(userId: string, adapter: string): Promise<readonly string[]> {
    const { status, json } = await service.post({ userId, adapter, resultCount: 20 });
    expect(status, JSON.stringify(json)).toBe(200);
    return (json.items as { itemId: string }[]).map(({ itemId }) => itemId);
  }

  const row = (digest: string) => visit.page.getByRole('row').filter({ hasText: short(digest) });

  /** Asks for something to be done with a version, and says yes. */
  async function confirmed(action: string, word: string): Promise<void> {
    const { page } = visit;
    await page.getByRole('button', { name: action }).click();
    await page.getByRole('dialog').getByRole('button', { name: word, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }

  it('says how to push where there is no adapter, and tells who may not activate one', async () => {
    const { page } = visit;
    await visit.goTo('/adapters');
    await logIn('ann');
    await page.getByText('No version yet').waitFor();
    await page.getByText('npm run adapter -- push FOLDER').waitFor();
    await visit.picture('adapters-empty-light');
    const digest = await pushed(TRAINED[0]);
    await row(digest).first().waitFor();
    await page.getByText('by trainer').first().waitFor();
    await page.getByText(/read-only access. Needs the role admin; you have read/).waitFor();
    const activate = page.getByRole('button', { name: `Activate main ${short(digest)}` });
    expect(await activate.isDisabled()).toBe(true);
    await visit.picture('role-read-adapters-light');
    await visit.expectAccessible();
    await logOut();
    expect(visit.faults).toEqual([]);
  });

  it('lets an admin activate, pin, try and compare two adapters', async () => {
    const { page } = visit;
    const [first, second] = [await pushed(TRAINED[0]), await pushed(TRAINED[1])];
    await logIn('abe');
    await page.getByRole('button', { name: `Activate main ${short(first)}` }).click();
    await page.getByLabel('Share of the users').fill('100');
    await page.getByRole('checkbox', { name: /golden set/ }).check();
    await visit.expectAccessible();
    await visit.picture('adapters-activate-light');
    await page.getByRole('button', { name: 'Activate for all' }).click();
    await page.getByText(`${short(first)} serves all users`).waitFor();
    await confirmed(`Pin main ${short(second)}`, 'Pin');
    await row(second)
      .getByText(/pinned/)
      .first()
      .waitFor();
    await visit.picture('adapters-light');

    await row(second).first().getByRole('link', { name: 'Try' }).click();
    await page.getByRole('button', { name: 'Recall', exact: true }).click();
    await page.getByRole('heading', { name: 'Recall for user 1' }).waitFor();
    await page.getByText(short(second)).first().waitFor();

    await visit.goTo('/adapters');
    await row(second).first().getByRole('link', { name: 'Compare' }).click();
    const adapterOf = (side: string) =>
      page.getByRole('group', { name: side }).getByLabel('Adapter').and(page.locator('input'));
    const users = ['3', '11', '12'];
    await page.getByLabel('or these').fill(users.join(' '));
    await adapterOf('Left').fill(first);
    expect(await adapterOf('Right').inputValue()).toBe(second);
    await page.getByRole('heading', { name: 'Compare two settings' }).click();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('figure').filter({ hasText: 'Overlap, mean of the users' }).waitFor();
    await visit.picture('compare-adapters-light');
    // The same by hand: shared items of all that either has.
    for (const user of users) {
      const [left, right] = [await itemsOf(user, first), await itemsOf(user, second)];
      const shared = left.filter((item) => right.includes(item)).length;
      const gained = right.length - shared;
      const chosen = page.getByRole('button', { name: user, exact: true });
      const ofUser = page.getByRole('row').filter({ has: chosen });
      const [, overlap = '', , got, lost] = await ofUser.getByRole('cell').allInnerTexts();
      expect(Number.parseFloat(overlap)).toBeCloseTo((100 * shared) / (left.length + gained), 0);
      expect([got, lost].map(Number)).toEqual([gained, left.length - shared]);
    }
    expect(visit.faults).toEqual([]);
  });

  it('shows a canary while it serves, in Live as well, and which limit it crossed', async () => {
    const { page } = visit;
    const from = writeRandomAdapter(join(folder.path, 'strange'), { seed: 11, size: 4 });
    const strange = await pushed(from);
    await visit.goTo('/adapters');
    await page.getByRole('button', { name: `Activate main ${short(strange)}` }).click();
    await page.getByLabel('Share of the users').fill('50');
    await page.getByRole('checkbox', { name: /golden set/ }).check();
    await page.getByRole('button', { name: 'Begin the canary' }).click();
    await page.getByText(`${short(strange)} serves 50.0 % of the users`).waitFor();
    const asked = async (count: number) => {
      for (let user = 100; user < 100 + count; user += 1) {
        await service.post({ userId: String(user), resultCount: 20 });
      }
    };
    await asked(4);
    await page.getByRole('table', { name: 'Rules of the canary' }).waitFor();
    await page.getByText('waits for samples').first().waitFor();
    await visit.picture('adapters-canary-light');
    await visit.expectAccessible();
    await visit.goTo('/live');
    await page
      .getByRole('heading', { name: new RegExp(`Canary main ${short(strange)}`) })
      .waitFor();
    await visit.picture('live-canary-light');
    await visit.expectAccessible();
    await visit.goTo('/adapters');
    await asked(200);
    await row(strange).getByText('retired').first().waitFor();
    await page
      .getByText(/overlap: expected at least .* % of the items/)
      .first()
      .waitFor();
    await page.getByRole('heading', { name: `Last canary ${short(strange)}` }).waitFor();
    await page.getByRole('cell', { name: 'crossed' }).waitFor();
    const changes = page.getByRole('table', { name: 'Changes' });
    await changes.getByRole('row', { name: /rollback .* canary OK/ }).waitFor();
    await changes
      .getByRole('row', { name: /activate .* abe \(admin\) OK/ })
      .first()
      .waitFor();
    await visit.picture('adapters-crossed-light');
    await visit.expectAccessible();
    await confirmed(`Delete main ${short(strange)}`, 'Delete');
    await confirmed('Roll back main', 'Roll back');
    await page.getByText('the base model serves all users').waitFor();
    expect(visit.faults).toEqual([]);
  });

  it('works behind a proxy that takes a prefix off every path', async () => {
    const proxy = await PrefixProxy.start('/ads/tessera', service.httpUrl);
    const behind = await Visit.open(browser, proxy.url);
    const outside: string[] = [];
    behind.page.on('request', (request) => {
      if (!request.url().startsWith(`${proxy.url}/`)) outside.push(request.url());
    });
    await behind.page.goto(`${proxy.url}/console#/users/5`);
    await logIn('ann', behind);
    await behind.page.getByRole('heading', { name: 'User 5' }).waitFor();
    await behind.page.reload();
    await behind.page.getByRole('heading', { name: 'User 5' }).waitFor();
    await behind.page.keyboard.press('Tab');
    await behind.page.keyboard.press('Enter');
    expect(await behind.page.getByRole('main').evaluate((main) => main.matches(':focus'))).toBe(
      true,
    );
    await behind.page.getByRole('button', { name: 'Log out' }).click();
    await behind.page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
    await behind.page.goto(`${proxy.url}/docs`);
    await behind.page.getByText('/v1/recall', { exact: true }).first().waitFor();
    expect([outside, behind.faults]).toEqual([[], []]);
    await behind.close();
    await proxy.stop();
  });

  it('is dark where the reader wants it dark, and fits 1920 pixels', async () => {
    const dark = await Visit.open(browser, service.httpUrl, { scheme: 'dark', width: 1920 });
    await dark.goTo('/adapters');
    await dark.page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
    await dark.picture('login-dark');
    await dark.expectAccessible();
    await logIn('abe', dark);
    await dark.page.getByRole('table', { name: 'Versions of main' }).waitFor();
    await dark.page.getByRole('table', { name: 'Changes' }).waitFor();
    await dark.picture('adapters-dark');
    await dark.expectAccessible();
    expect(dark.faults).toEqual([]);
    await dark.close();
  });
});
