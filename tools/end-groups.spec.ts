import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { endGroups } from './end-groups.mjs';

const started = (command: string, ...words: string[]) =>
  spawn(command, words, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });

it('ends all groups where one has ended by itself', async () => {
  const [first, second] = [started('sleep', '600'), started('sleep', '600')];
  const gone = once(first, 'close');
  first.kill('SIGKILL');
  await gone;
  const ended = once(second, 'close');
  await endGroups([first, {}, second], 'SIGTERM');
  expect(await ended).toEqual([null, 'SIGTERM']);
});

it('waits for what a head has started, and kills what does not listen', async () => {
  // The head ends at the signal, and leaves a process that ignores it.
  const script = 'sh -c \'trap "" TERM; echo $$; while :; do sleep 600; done\' & wait';
  const head = started('sh', '-c', script);
  const [line] = (await once(head.stdout, 'data')) as [Buffer];
  const left = Number(line.toString());
  expect(process.kill(left, 0)).toBe(true);
  await endGroups([head], 'SIGTERM', 100);
  expect(() => process.kill(left, 0)).toThrow('ESRCH');
});
