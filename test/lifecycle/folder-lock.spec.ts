/** The lock of a folder between processes: never held twice, free once its process has ended. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CHILD = fileURLToPath(new URL('lock-child.mjs', import.meta.url));
/** Of a process that has died, as earlier releases wrote it. */
const STALE = '999999999 0';
const ROUNDS = 50;
const RACERS = 3;

const folder = temporaryFolder({});
let racers: ChildProcess[] = [];

async function start(): Promise<ChildProcess> {
  const child = fork(CHILD);
  await once(child, 'message');
  return child;
}

/** Its answer. */
async function ask(child: ChildProcess, message: string): Promise<unknown> {
  const answer = once(child, 'message');
  child.send(message);
  return (await answer)[0];
}

const askAll = (message: string) => Promise.all(racers.map((racer) => ask(racer, message)));

function stale(name: string): string {
  const path = `${folder.path}/${name}`;
  mkdirSync(path);
  writeFileSync(`${path}/lock`, STALE);
  return path;
}

beforeAll(async () => {
  racers = await Promise.all(Array.from({ length: RACERS }, start));
});

afterAll(() => {
  for (const racer of racers) racer.kill();
  folder.remove();
});

describe('the lock of a folder', () => {
  it('is taken by one of those that race for what a dead process left', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await askAll(stale(`round-${round}`));
      expect(answers.sort(), `round ${round}`).toEqual([
        'STORE_INVALID',
        'STORE_INVALID',
        'has it',
      ]);
      await askAll('done');
    }
  });

  it('is free when its process was killed', async () => {
    const path = stale('killed');
    const killed = await start();
    expect(await ask(killed, path)).toBe('has it');
    expect(await askAll(path)).toEqual(new Array(RACERS).fill('STORE_INVALID'));
    const gone = once(killed, 'exit');
    killed.kill('SIGKILL');
    await gone;
    expect((await askAll(path)).filter((answer) => answer === 'has it')).toHaveLength(1);
    await askAll('done');
  });
});
