import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BehaviourEvent, EmbeddedBehaviourLog, parseRetention } from '@tessera/behaviour';
import { buildCatalogue } from '@tessera/engine';
import { type Measurement, quantile } from '../../result.js';
import type { SuiteContext } from '../suite.js';

const USERS = 1000;
const BEHAVIOURS = 50;
const HISTORY_ITEMS = 50;
const ITEMS = 200_000;
/** Codes of each of three levels. */
const LEVEL_SIZE = 64;
/** Long rare tasks at once: catalogues that are built. */
const TASKS = 4;
/** Milliseconds, of the median beside the tasks. */
const BAR_MS = 1;
const PAUSE_MS = 2;

/** How long a known user's history is read, alone and while long rare tasks run. */
export async function reading({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-reading-'));
  const log = await EmbeddedBehaviourLog.open({
    path: join(folder, 'behaviours'),
    retention: parseRetention(`*=${BEHAVIOURS}`),
    nowMs: Date.now,
  });
  try {
    say(`${USERS} users with ${BEHAVIOURS} behaviours each`);
    for (let user = 0; user < USERS; user += 1) await log.append(eventsOf(user));
    const milliseconds = quick ? 5000 : 30_000;
    await readFor(log, 1000);
    say('reads alone');
    const alone = await readFor(log, milliseconds);
    say(`reads beside ${TASKS} catalogues that are built`);
    const beside = await besideBuilds(log, folder, milliseconds);
    return [
      ...rows('alone', alone, null),
      ...rows(`beside ${TASKS} long tasks`, beside.times, BAR_MS),
      { name: 'tasks that ended meanwhile', value: beside.ended, unit: 'tasks', bar: null },
    ];
  } finally {
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function rows(when: string, times: readonly number[], bar: number | null): Measurement[] {
  const name = `history of a known user, ${when}`;
  return [
    { name: `${name}: reads`, value: times.length, unit: 'reads', bar: null },
    { name: `${name}, median`, value: quantile(times, 0.5), unit: 'ms', bar, bound: 'at-most' },
    { name: `${name}, p99`, value: quantile(times, 0.99), unit: 'ms', bar: null },
    { name: `${name}, longest`, value: Math.max(...times), unit: 'ms', bar: null },
  ];
}

function eventsOf(user: number): BehaviourEvent[] {
  const nowMs = Date.now();
  return Array.from({ length: BEHAVIOURS }, (_, index) => ({
    userId: `user ${user}`,
    eventId: `event ${index}`,
    itemId: String((user * 31 + index * 7) % ITEMS),
    action: 'click',
    timeMs: nowMs - (BEHAVIOURS - index) * 1000,
    scene: {},
  }));
}

async function readFor(log: EmbeddedBehaviourLog, milliseconds: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + milliseconds;
  for (let user = 0; performance.now() < end; user = (user + 1) % USERS) {
    const started = performance.now();
    const found = await log.user(`user ${user}`, HISTORY_ITEMS);
    times.push(performance.now() - started);
    if (found?.behaviours.length !== BEHAVIOURS) {
      throw new Error(`user ${user}: expected ${BEHAVIOURS} behaviours, got others`);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return times;
}

async function besideBuilds(log: EmbeddedBehaviourLog, folder: string, milliseconds: number) {
  const path = join(folder, 'ads.jsonl');
  writeFileSync(path, Array.from({ length: ITEMS }, (_, item) => lineOf(item)).join('\n'));
  const tasks = { ended: 0, areWanted: true };
  const keepBuilding = async (task: number): Promise<void> => {
    while (tasks.areWanted) {
      await buildCatalogue(
        {
          sources: [{ path, domain: '' }],
          titlesPath: '',
          levelSizes: [],
          outputPath: join(folder, `built-${task}`),
        },
        () => undefined,
      );
      tasks.ended += 1;
    }
  };
  const builds = Array.from({ length: TASKS }, (_, task) => keepBuilding(task));
  const times = await readFor(log, milliseconds);
  tasks.areWanted = false;
  await Promise.all(builds);
  return { times, ended: tasks.ended };
}

function lineOf(item: number): string {
  const code = (level: number) => Math.floor(item / LEVEL_SIZE ** level) % LEVEL_SIZE;
  return JSON.stringify({
    item_id: String(item),
    sid: [code(2), code(1), code(0)],
    title: `item ${item}`,
    attributes: { category: `c${item % 50}`, bid: (item % 100) / 10 },
  });
}
