/** npm as scripts of this repository run it: under signals, and without its registry. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, expect, it, vi } from 'vitest';
import { runNpm, whyUnreachable } from './npm.cjs';

const folder = temporaryFolder({});
afterAll(() => folder.remove());

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
};
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';
const { PATH } = process.env;
const environment = (more: Record<string, string>) =>
  Object.assign({ PATH, HOME: folder.path, npm_config_cache: join(folder.path, 'cache') }, more);

it('every script ends in a program that signals reach, no shell between', () => {
  const last = (script: string) => script.split(' && ').at(-1) ?? '';
  const others = Object.entries(scripts).filter(([, one]) => !/^(\w+=\S+ )*exec /.test(last(one)));
  expect(others).toEqual([]);
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  '%s to npm drains what `npm start` runs',
  async (signal) => {
    const program = `
    process.on('${signal}', () => console.log('drained'));
    setInterval(() => undefined, 1000).ref();
    process.once('${signal}', () => setImmediate(() => process.exit(0)));
    console.log('ready');`;
    const own = temporaryFolder({
      'program.cjs': program,
      'package.json': JSON.stringify({
        scripts: { start: scripts.start?.replace(/tools\/node\.cjs .*/, 'program.cjs') },
      }),
    });
    const npm = spawn('npm', ['start', '--silent'], {
      cwd: own.path,
      env: environment({}),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    const ready = new Promise<void>((resolve) => {
      npm.stdout.on('data', (part) => {
        said += String(part);
        if (said.includes('ready')) resolve();
      });
    });
    await ready;
    const closed = once(npm, 'close');
    npm.kill(signal);
    await closed;
    own.remove();
    expect(said).toBe('ready\ndrained\n');
  },
);

it('names a proxy that does not answer, and what to do', async () => {
  const env = environment({
    HTTP_PROXY: NOWHERE.replace('//', '//user:secret@'),
    npm_config_registry: 'http://registry.invalid/',
  });
  expect(await whyUnreachable(env)).toBe(
    `npm cannot reach http://registry.invalid/ through HTTP_PROXY=${NOWHERE} (ECONNREFUSED): set ` +
      'HTTP_PROXY to a proxy that answers, or unset it, then start again',
  );
});

it('names a registry that does not answer, and takes what the cache has', async () => {
  const env = environment({ npm_config_registry: `${NOWHERE}/` });
  const options = { env, cwd: folder.path };
  await expect(runNpm(['pack', 'left-pad@1.3.0'], options)).rejects.toThrow(
    `npm cannot reach ${NOWHERE}/ (ECONNREFUSED): connect this machine, or name a mirror by ` +
      'npm_config_registry=URL, then start again',
  );
  await expect(runNpm(['--version'], options)).resolves.toBeUndefined();
});

it('starts nothing more once it was stopped', async () => {
  vi.resetModules();
  const own = (await import('./npm.cjs')) as typeof import('./npm.cjs');
  own.startNothing();
  await expect(own.succeed('true', [], {})).rejects.toThrow("'true' was not started");
});
