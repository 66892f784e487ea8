/** The engine's life and death, each scene in a process of its own that must end as stated. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { buildCatalogue } from '@tessera/engine';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { SLOW, writeRandomModel } from '../e2e/random-model.js';

const folder = temporaryFolder({});
const model = join(folder.path, 'model');
const catalogue = join(folder.path, 'catalogue.tsc');

beforeAll(async () => {
  writeRandomModel(model, SLOW);
  await buildCatalogue(
    {
      sources: [{ path: join(model, 'catalogue.jsonl'), domain: '' }],
      titlesPath: '',
      levelSizes: [8, 8, 8],
      outputPath: catalogue,
    },
    () => undefined,
  );
});

afterAll(() => folder.remove());

const CRASH_MARKS = /FATAL|Assertion|terminate called|Sanitizer|TESSERA_CHECK/;

async function play(scene: string) {
  const child = spawn(process.execPath, [
    'test/lifecycle/engine-child.mjs',
    scene,
    model,
    catalogue,
  ]);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [status, signal] = await once(child, 'close');
  expect(stderr).not.toMatch(CRASH_MARKS);
  return { status, signal, said: stdout.trim().split('\n') };
}

/** Scene, exit status, what it says. */
const scenes: [string, number, string[]][] = [
  ['answersAndCloses', 0, ['5 items', 'closed']],
  ['closesWithARecallRunning', 0, ['ENGINE_CLOSED ENGINE_CLOSED', 'ENGINE_CLOSED']],
  ['drainsThenRefuses', 0, ['ENGINE_UNAVAILABLE', '5 items']],
  ['readsBesideLongCalls', 0, ['reach file', 'closed']],
  ['abortsOne', 0, ['CANCELLED', '5 items']],
  ['exitsWithARecallRunning', 0, ['leaving']],
  ['throwsWithARecallRunning', 1, ['throwing']],
  ['catalogueOutlivesItsHandle', 0, ['5 items']],
  ['workerIsTerminated', 0, ['terminated', '5 items', 'closed']],
];

it.each(scenes)('%s ends with status %i and says what happened', async (scene, status, said) => {
  expect(await play(scene)).toEqual({ status, signal: null, said });
});
