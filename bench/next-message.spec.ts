import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { expect, it } from 'vitest';
import { nextMessage } from './next-message.js';

it('is what a child says, or an error where it ends first', async () => {
  const folder = temporaryFolder({});
  const program = join(folder.path, 'child.cjs');
  writeFileSync(program, "process.on('message', (it) => it ? process.send(it) : process.exit(3));");
  const child = fork(program);
  child.send('asked');
  expect(await nextMessage(child)).toBe('asked');
  child.send(0);
  await expect(nextMessage(child)).rejects.toThrow('it ended: 3');
  folder.remove();
});
