/**
 * Folders of models that today's Python libraries save, compared with what the library that saved
 * each makes of it.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import type { Course, Kind, Soak } from '../soak/soak.js';
import { compareFolder } from './compare-folder.js';

const HERE = join('test', 'folders');
const HOME = join('.cache', 'folders');
const PYTHON = join(HOME, 'bin', 'python');
const FAILED = new Set(['wrong', 'nameless']);

export const folders: Kind = {
  usage: `
  A folder that transformers, sentence-transformers or PEFT saves with drawn settings, some
  changed by hand; in the end adapters of all pairs of features. Their packages are installed
  into ${HOME} first, gigabytes and minutes, once. Faults: a folder is silently wrong, or is
  refused without a place.`,
  rounds: 320,
  start,
};

const run = (command: string, ...words: readonly string[]) =>
  execFileSync(command, words, { stdio: ['ignore', 'ignore', 2] });

async function start(soak: Soak): Promise<Course> {
  const made = temporaryFolder({});
  const [drawn, pairs] = [join(made.path, 'drawn'), join(made.path, 'pairs')];
  const compare = async (folder: string) => {
    const { verdict, detail } = await compareFolder(folder);
    soak.count(verdict);
    if (FAILED.has(verdict)) soak.fault(`${folder}: ${verdict} ${detail}`);
  };
  return {
    async begin() {
      if (!existsSync(PYTHON)) run('python3', '-m', 'venv', HOME);
      run(PYTHON, '-m', 'pip', 'install', '-q', '-r', join(HERE, 'requirements.txt'));
      const words = ['--count', String(soak.rounds), '--seed', String(soak.seed)];
      run(PYTHON, join(HERE, 'make.py'), '--out', drawn, ...words);
      run(PYTHON, join(HERE, 'pairs.py'), '--out', pairs);
    },
    async round() {
      const number = String(soak.round - 1).padStart(4, '0');
      // The library has made none of some settings.
      const name = readdirSync(drawn).find((one) => one.startsWith(`${number}-`));
      if (name !== undefined) await compare(join(drawn, name));
    },
    async finish() {
      for (const name of readdirSync(pairs).sort()) await compare(join(pairs, name));
    },
    async close() {
      made.remove();
    },
  };
}
