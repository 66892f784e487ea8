/** Programs whose lines reach nobody: on a full disk, or with a reader that is gone. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort, temporaryFolder, until } from '../../libs/testing/src/index.js';
import { runTool, variablesOf, writeTwoStores } from './kept-stores.js';

const folder = temporaryFolder({});
const at = (...parts: string[]) => join(folder.path, ...parts);
beforeAll(() => writeTwoStores(folder.path));
afterAll(() => folder.remove());

const full = openSync('/dev/full', 'w');

/** Starts a program whose standard output, where it is a pipe, has no reader. */
function startUnread(
  program: string,
  words: readonly string[],
  stdio: readonly ('pipe' | number)[],
  variables: object = {},
) {
  const child = spawn(process.execPath, [`dist/${program}.js`, ...words], {
    env: Object.assign(variablesOf(folder.path), variables),
    stdio: ['ignore', ...stdio],
  });
  child.stdout?.destroy();
  return child;
}

it.each([[[]], [['--help']]])(
  'a command says that its output is on a full disk %j',
  async (words) => {
    const stdio = ['ignore', full, 'pipe'] as const;
    const { status, output } = await runTool(folder.path, 'repair', words, { stdio: [...stdio] });
    expect(status).toBe(1);
    expect(output).toMatch(/^STORE_FULL: standard output: ENOSPC[^\n]*\n$/);
  },
);

it('a command whose reader is gone ends without a word, behind what it does', async () => {
  const child = startUnread('tools/backup', ['--to', at('backup')], ['pipe', 'pipe']);
  let complaint = '';
  child.stderr?.on('data', (data) => {
    complaint += data;
  });
  expect(await once(child, 'close')).toEqual([130, null]);
  expect(complaint).toBe('');
  const restored = startUnread('tools/restore', ['--from', at('backup'), '--replace'], ['pipe', 2]);
  expect(await once(restored, 'close')).toEqual([130, null]);
  expect(await runTool(folder.path, 'repair', [])).toMatchObject({ status: 0 });
});

it('a configuration that cannot be printed fails', async () => {
  const child = startUnread('apps/feature/src/main', ['--print-config'], [full, 'pipe']);
  let complaint = '';
  child.stderr?.on('data', (data) => {
    complaint += data;
  });
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(complaint).toMatch(/^STORE_FULL: standard output: ENOSPC[^\n]*\n$/);
});

it.each([
  ['on a full disk', [full, full], []],
  ['as JSON on a full disk', [full, full], ['--json-log']],
  ['without a reader', ['pipe', 'pipe'], []],
  ['as JSON without a reader', ['pipe', 'pipe'], ['--json-log']],
] as const)('a service with its log %s serves, and drains', async (_how, stdio, words) => {
  const [http, grpc] = [await freePort(), await freePort()];
  const child = startUnread('apps/feature/src/main', words, stdio, {
    TESSERA_HTTP_PORT: String(http),
    TESSERA_GRPC_PORT: String(grpc),
    TESSERA_LOG_LEVEL: 'debug',
  });
  child.stderr?.destroy();
  const ended = once(child, 'close');
  const isReady = async () => (await fetch(`http://127.0.0.1:${http}/health`)).ok;
  await until('the service is ready', () => isReady().catch(() => false));
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
