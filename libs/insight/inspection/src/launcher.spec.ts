/** A launcher that stands still: those who wait for its processes are told, and the next begins. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { expect, it } from 'vitest';
import { Launcher } from './process/launcher.js';
import { Queries } from './process/queries.js';

const PROGRAM = join(import.meta.dirname, '../../../../dist/apps/inspection/src/main.js');
const LIMITS = { rowsMax: 10, timeoutMs: 60_000 };

it('ends a launcher that stands still, tells its queries, and begins another one', async () => {
  const folder = temporaryFolder({});
  const launcher = new Launcher([PROGRAM, 'launcher', '0'], 1000);
  const queries = new Queries({
    launcher,
    program: [PROGRAM, 'query', '0'],
    rules: {
      pagesMax: 1,
      sqlMax: 1,
      waitMs: 60_000,
      memoryBytes: 2 ** 28,
      diskBytes: 2 ** 24,
      answerBytesMax: 2 ** 16,
    },
    folder: async () => {
      mkdirSync(join(folder.path, 'query'), { recursive: true });
      return join(folder.path, 'query');
    },
    place: { folder: join(folder.path, 'facts'), shelf: join(folder.path, 'work'), sceneKeys: [] },
    onFault: (thrown) => {
      throw thrown;
    },
  });
  queries.open();
  const first = launcher.processId as number;
  process.kill(first, 'SIGSTOP');
  // One at a time: the second has the place of the first, which has left it.
  const asked = [1, 2].map(() => queries.query('no statement', LIMITS));
  const [stopped, next] = await Promise.allSettled(asked);
  expect(stopped).toMatchObject({
    status: 'rejected',
    reason: {
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('it has answered none of 3 questions'),
    },
  });
  // Its process says so: it runs.
  expect(next).toMatchObject({ status: 'rejected', reason: { code: 'REQUEST_INVALID' } });
  expect(launcher.processId).not.toBe(first);
  queries.close();
  launcher.close();
  folder.remove();
});
