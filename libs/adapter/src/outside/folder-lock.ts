import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';

const NAME = 'lock';
const ATTEMPTS = 3;
/** Place of the start time among the fields after the command's name: proc(5), `stat`. */
const START_TIME = 19;

/** Distinguishes a process from a later one of the same number; '' where the system cannot. */
async function startTimeOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_TIME] ?? '';
}

async function isHeld(owner: string): Promise<boolean> {
  const [pid = '', startTime] = owner.split(' ');
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return (await startTimeOf(Number(pid))) === startTime;
}

/**
 * One process at a time in a folder; the lock of one that has died is taken over.
 * @param field of the configuration that names the folder
 * @returns what gives it back
 * @throws TesseraError STORE_INVALID where another process has it
 */
export async function lockFolder(folder: string, field: string): Promise<() => Promise<void>> {
  const path = join(folder, NAME);
  const mine = `${process.pid} ${await startTimeOf(process.pid)}`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const file = await open(path, 'wx');
      await file.writeFile(mine);
      await file.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = await readFile(path, 'utf8').catch(() => '');
    if (await isHeld(owner)) break;
    await rm(path, { force: true });
  }
  const message = `${field}: ${folder}: expected a folder of its own, got one in use`;
  throw new TesseraError('STORE_INVALID', message, { field });
}
