import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, until } from '@tessera/testing';
import { expect, it } from 'vitest';
import { ChildLink } from './child-link.js';

/** Answers every call, pings too, and does nothing else. */
const CHILD = `
  process.on('message', ({ number, method }) => {
    if (method === 'hang') return;
    process.send({ number, answer: process.pid });
  });
  process.on('disconnect', () => process.exit());
`;

interface Served extends Record<string, (...values: never[]) => Promise<unknown>> {
  who: () => Promise<number>;
  hang: () => Promise<void>;
}

it('ends a process that stands still, refuses its calls, and begins another one', async () => {
  const folder = temporaryFolder({});
  const program = join(folder.path, 'child.cjs');
  writeFileSync(program, CHILD);
  const faults: string[] = [];
  const link = new ChildLink<Served>({
    does: 'tests',
    program: [program],
    options: {},
    pingMs: 1000,
    onFault: ({ message }) => faults.push(message),
  });
  await link.start();
  const first = await link.call('who');
  process.kill(first as number, 'SIGSTOP');
  const waiting = link.call('who');
  await expect(waiting).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(faults).toEqual([
    'the process that tests is not there: it has answered none of 3 questions',
  ]);
  await link.untilOpen();
  expect(await link.call('who')).not.toBe(first);
  // A child that is busy with a call and answers questions goes on.
  const slow = link.call('hang');
  slow.catch(() => undefined);
  await until('it was asked', () => link.isOpen);
  expect(await link.call('who')).toBe(link.processId);
  await link.close(1000, async () => undefined);
  folder.remove();
});
