import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { endGroups } from './end-groups.mjs';

const started = () => spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });

it('ends all groups where one has ended by itself', async () => {
  const [first, second] = [started(), started()];
  const gone = once(first, 'close');
  first.kill('SIGKILL');
  await gone;
  const ended = once(second, 'close');
  endGroups([first, {}, second], 'SIGTERM');
  expect(await ended).toEqual([null, 'SIGTERM']);
});
