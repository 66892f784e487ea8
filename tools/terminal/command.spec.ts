/** Mistakes at a terminal: a line that names the path or flag, and no trace of the program. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, expect, it } from 'vitest';
import { Flags, UsageError } from './command.js';

const folder = temporaryFolder({ 'file.jsonl': '{"op":"pause","item_id":"1"}\n' });
afterAll(() => folder.remove());
const file = join(folder.path, 'file.jsonl');
const none = join(folder.path, 'none');

const run = promisify(execFile);

async function refusal(program: string, words: readonly string[], variables: object = {}) {
  const env = Object.assign({ PATH: process.env.PATH }, variables);
  return run(process.execPath, [`dist/${program}.js`, ...words], { env }).then(
    () => ({ code: 0, stdout: '', stderr: '' }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

it.each([
  ['catalogue', ['apply', none], `IO_FAILED: ${none}: ENOENT`],
  ['catalogue', ['apply', none, '--whole'], `IO_FAILED: ${none}: ENOENT`],
  ['catalogue', ['apply', folder.path], `IO_FAILED: ${folder.path}: EISDIR`],
  [
    'catalogue',
    ['apply', file, '--resume', folder.path],
    `${folder.path}: expected a regular file`,
  ],
  ['restore', ['--from', file], 'STORE_CORRUPT: --from: '],
  [
    'dead-letters',
    ['--kafka', '127.0.0.1:1', '--topic', 'a'],
    'BROKER_UNAVAILABLE: kafka: a.dead: ',
  ],
] as const)('%s %j says what is wrong', async (tool, words, said) => {
  const { code, stderr } = await refusal(`tools/${tool}`, words);
  expect(code).toBe(1);
  expect(stderr).toContain(said);
  expect(stderr.trimEnd()).not.toContain('\n');
});

it.each([file, join(file, 'x')])('a backup to %s says what is wrong', async (to) => {
  const weights = join(folder.path, 'weights');
  await run('mkdir', ['-p', join(weights, 'set')]);
  const { code, stderr } = await refusal('tools/backup', ['--to', to], {
    TESSERA_WEIGHTS_PATH: weights,
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^IO_FAILED: E[A-Z]+: [^\n]*mkdir[^\n]*file.jsonl[^\n]*\n$/);
});

it('a device is refused by name by the doctor', async () => {
  const { code, stdout } = await refusal('tools/doctor', ['/dev/null']);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^served: no; IO_FAILED: \/dev\/null: expected a regular file/);
});

it('a start names the key of a folder that is a file', async () => {
  const { code, stderr } = await refusal('apps/standalone/src/main', [], {
    TESSERA_BEHAVIOURS_PATH: join(folder.path, 'behaviours'),
    TESSERA_CATALOGUE_CHANGES_PATH: join(folder.path, 'changes'),
    TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
    TESSERA_KV_PATH: join(folder.path, 'kv'),
    TESSERA_ADAPTERS_PATH: join(folder.path, 'adapters'),
    TESSERA_INSPECTION_PATH: file,
    TESSERA_HTTP_PORT: '0',
    TESSERA_GRPC_PORT: '0',
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^IO_FAILED \(inspection\.path\): inspection\.path: ENOTDIR: [^\n]*\n/m);
  expect(stderr).not.toMatch(/^INTERNAL/m);
});

it('a flag that is given twice is refused, but for those that repeat', async () => {
  const kinds = { name: 'text', all: 'switch', some: 'texts' } as const;
  const parse = (...words: string[]) => Flags.parse(words, kinds);
  expect(() => parse('--name', 'a', '--name=b')).toThrow(UsageError);
  expect(() => parse('--name', 'a', '--name=b')).toThrow('--name: expected it once, got it twice');
  expect(() => parse('--all', '--all')).toThrow('--all: expected it once');
  expect(parse('--some', 'a', '--some', 'b').texts('some')).toEqual(['a', 'b']);
  const start = await refusal('apps/feature/src/main', ['--config', 'a', '--config', 'b']);
  expect(start).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--config: .* twice/) });
});
