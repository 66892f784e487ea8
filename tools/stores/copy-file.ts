import { copyFile, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A copy that outlives a loss of power, in folders that are made where they are missing. */
export async function copyDurably(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
  const file = await open(to, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
