import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { DEEP, writeRandomModel } from '../../../test/e2e/random-model.js';
import { Service } from '../../../test/e2e/service.js';
import { type Measurement, quantile } from '../../result.js';
import type { SuiteContext } from '../suite.js';

export const BROWSER_PATH = '/usr/bin/chromium';
const WIDTH = 512;
const PAN_FRAMES = 240;
/** Pixels of a frame. */
const PAN_STEP = 12;
const FRAMES_PER_SECOND_BAR = 60;
/** Of 60 frames a second, a screen shows one this often; clocks of browsers are coarse. */
const FRAME_SLACK = 1.02;
const COLD_VISITS = 5;

/** A beam tree of 512 paths over four levels panned in a real browser, and a first visit. */
export async function inBrowser({ say }: SuiteContext, folder: string): Promise<Measurement[]> {
  const modelPath = writeRandomModel(join(folder, 'model'), DEEP);
  const service = await Service.start({
    TESSERA_MODEL_PATH: modelPath,
    TESSERA_CATALOGUE_PATH: join(modelPath, 'catalogue.jsonl'),
    TESSERA_CATALOGUE_TITLES_PATH: '',
    TESSERA_USERS_PATH: join(modelPath, 'users.json'),
    TESSERA_CATALOGUE_CACHE_PATH: join(folder, 'cache'),
    TESSERA_INSPECTION_PATH: join(folder, 'inspection'),
  });
  const browser = await chromium.launch({
    executablePath: BROWSER_PATH,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  try {
    say(`a tree of ${WIDTH} paths over four levels, panned in a browser`);
    return [...(await panned(browser, service)), ...(await firstViews(browser, service))];
  } finally {
    await browser.close();
    await service.stop();
  }
}

async function panned(browser: Browser, service: Service): Promise<Measurement[]> {
  const { json } = await service.post({ userId: '1', widths: [WIDTH], inspect: true });
  const path = `/console/api/recalls?requestId=${json.requestId}`;
  const { recalls } = (await (await fetch(service.httpUrl + path)).json()) as {
    recalls: { id: string }[];
  };
  const page = await browser.newPage({ viewport: { width: 1920, height: 1080 } });
  await page.goto(`${service.httpUrl}/console/#/recalls/${recalls[0]?.id}`);
  const tree = page.getByRole('img', { name: /^Tree of the search/ });
  await tree.waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  const nodes = Number(await tree.getAttribute('data-nodes'));
  const times = await page.evaluate<number[]>(PAN);
  const fps = 1000 / (quantile(times, 0.5) || 1);
  const drawn = `tree of ${nodes} candidates, all in view, panned`;
  const bar = FRAMES_PER_SECOND_BAR / FRAME_SLACK;
  return [
    { name: `${drawn}, median`, value: fps, unit: 'frames/s', bar, bound: 'at-least' },
    { name: 'the same, longest of 20 frames', value: quantile(times, 0.95), unit: 'ms', bar: null },
  ];
}

/** Runs in the page: milliseconds between frames, each of which moves the tree. */
const PAN = `(async () => {
  const canvas = document.querySelector('canvas.beam-tree');
  const times = [];
  let before = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < ${PAN_FRAMES}; frame++) {
    const deltaY = Math.floor(frame / 40) % 2 === 0 ? ${PAN_STEP} : -${PAN_STEP};
    canvas.dispatchEvent(new WheelEvent('wheel', { deltaY, cancelable: true }));
    const now = await new Promise(requestAnimationFrame);
    times.push(now - before);
    before = now;
  }
  return times;
})()`;

async function firstViews(browser: Browser, service: Service): Promise<Measurement[]> {
  const times: number[] = [];
  for (let visit = 0; visit < COLD_VISITS; visit++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    const began = performance.now();
    await page.goto(`${service.httpUrl}/console/`);
    await page.getByRole('heading', { name: 'Try a recall' }).waitFor();
    times.push(performance.now() - began);
    await context.close();
  }
  const name = 'first view, nothing cached, median';
  return [{ name, value: quantile(times, 0.5), unit: 'ms', bar: null }];
}
