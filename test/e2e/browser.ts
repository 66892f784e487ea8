import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Pixels that the page is wider than its window. */
const BEYOND = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/**
 * Charts and tables are laid out anew in the frame behind the one that knows their width; colours
 * pass into each other. The state is read in each frame: an animation's promise stays unsettled
 * where its element is in a closed `details`, which the browser does not animate.
 */
const AT_REST = `new Promise((done) => {
  const moves = (one) =>
    one.playState === 'running' && one.effect.getComputedTiming().endTime !== Infinity;
  const look = (frame) =>
    requestAnimationFrame(() =>
      frame < 2 || document.getAnimations().some(moves) ? look(frame + 1) : done());
  look(1);
})`;

const WAIT_MS = 60_000;

/** Undefined where this machine has no browser. */
export const BROWSER_PATH = PATHS.find((path) => existsSync(path));

/** Folder for pictures of pages, for people to look at; left out: none are taken. */
const PICTURES = process.env.PICTURES;

export function launchBrowser(): Promise<Browser> {
  if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true });
  return chromium.launch({
    executablePath: BROWSER_PATH as string,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

interface AxeFinding {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly html: string }[];
}

/** A context whose faults are collected: errors of scripts, and what the policy refused. */
export class Visit {
  readonly faults: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly url: string,
  ) {
    page.on('pageerror', (error) => this.faults.push(error.message));
    page.on('console', (message) => {
      const text = message.text();
      // Answers that refuse are shown by the page; the browser reports them as well.
      if (message.type() === 'error' && !text.startsWith('Failed to load resource')) {
        this.faults.push(text);
      }
    });
  }

  static async open(
    browser: Browser,
    url: string,
    options: { readonly scheme?: 'light' | 'dark'; readonly width?: number } = {},
  ): Promise<Visit> {
    const { scheme = 'light', width = 1280 } = options;
    const context = await browser.newContext({
      colorScheme: scheme,
      viewport: { width, height: 900 },
      locale: 'en-GB',
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(WAIT_MS);
    return new Visit(context, await context.newPage(), url);
  }

  goTo(path: string) {
    return this.page.goto(`${this.url}/console/#${path}`);
  }

  /** @param fullPage false: what the window shows */
  async picture(name: string, fullPage = true): Promise<void> {
    if (PICTURES === undefined) return;
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage });
  }

  /**
   * No finding of axe, one heading of the first order, and all within the width.
   * @param rules of axe; left out: all
   */
  async expectAccessible(rules?: readonly string[]): Promise<void> {
    await this.settled();
    // Not as a script of the page: the policy of the console lets none in. It stays until a reload.
    if (!(await this.page.evaluate<boolean>("'axe' in globalThis"))) await this.page.evaluate(AXE);
    const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
    const findings = await this.page.evaluate(async (chosen) => {
      const { axe } = globalThis as unknown as {
        axe: { run: (options: object) => Promise<{ violations: AxeFinding[] }> };
      };
      return (await axe.run(chosen)).violations;
    }, options);
    const described = findings.map(({ id, impact, help, nodes }) => {
      const places = nodes.map(({ html }) => html.slice(0, 160)).join(' | ');
      return `${id} (${impact}): ${help}: ${places}`;
    });
    const { hash } = new URL(this.page.url());
    expect([hash, ...described]).toEqual([hash]);
    expect([hash, await this.page.getByRole('heading', { level: 1 }).count()]).toEqual([hash, 1]);
    await this.expectWhole();
  }

  /** Nothing sticks out sideways. */
  async expectWhole(): Promise<void> {
    await this.settled();
    const { hash } = new URL(this.page.url());
    const beyond = await this.page.evaluate<number>(BEYOND);
    expect([hash, beyond], 'pixels beyond the width').toEqual([hash, 0]);
  }

  /** Nothing on the page is still on its way or moves, two frames after the last of it came. */
  async settled(): Promise<void> {
    const busy = this.page.locator('[aria-busy=true]');
    do {
      await this.page.getByRole('heading', { level: 1 }).first().waitFor();
      await busy.first().waitFor({ state: 'detached' });
      await this.page.evaluate(AT_REST);
    } while ((await busy.count()) > 0);
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
