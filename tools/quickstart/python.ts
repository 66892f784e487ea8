import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = '.venv';
const REQUIREMENTS = join('trainer', 'requirements.txt');
/** PyTorch for processors: what pip takes otherwise is for cards, gigabytes of it. */
const TORCH_INDEX = 'https://download.pytorch.org/whl/cpu';
const PIP = ['-m', 'pip', 'install', '--quiet'];

/**
 * A Python with what the trainer needs, in a virtual environment that is made once for a content of
 * its requirements.
 * @param run runs a command to its end
 */
export async function preparePython(
  run: (command: string, words: readonly string[]) => Promise<void>,
  tell: (line: string) => void,
  device = 'cpu',
): Promise<string> {
  const forCards = device !== 'cpu';
  const python = join(FOLDER, 'bin', 'python');
  const stamp = join(FOLDER, 'trainer-requirements');
  const requirements = readFileSync(REQUIREMENTS, 'utf8');
  const wanted = forCards ? `${requirements}for cards\n` : requirements;
  const digest = createHash('sha256').update(wanted).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return python;
  tell(`Python packages of ${REQUIREMENTS} into ${FOLDER}: some minutes, once`);
  if (!existsSync(python)) await run('python3', ['-m', 'venv', FOLDER]);
  await installPackages((words) => run(python, [...PIP, ...words]), requirements, tell, forCards);
  writeFileSync(stamp, digest);
  return python;
}

/**
 * Packages of the trainer; PyTorch for processors from its own index where that answers, else, and
 * for cards, from pip's.
 */
export async function installPackages(
  install: (words: readonly string[]) => Promise<void>,
  requirements: string,
  tell: (line: string) => void,
  forCards = false,
): Promise<void> {
  const torch = /^torch==.*$/m.exec(requirements)?.[0] ?? 'torch';
  if (forCards) {
    // The one for processors has the same version, so pip would keep it.
    await install(['--force-reinstall', torch]);
  } else {
    try {
      await install(['--retries', '1', '--index-url', TORCH_INDEX, torch]);
    } catch {
      tell(`no PyTorch from ${TORCH_INDEX}: pip's own index has it, with gigabytes for cards`);
    }
  }
  await install(['-r', REQUIREMENTS]);
}
