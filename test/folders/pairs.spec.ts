/** Adapters of pairs of features against PEFT; `npm run soak -- folders` compares all pairs. */

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { expect, it } from 'vitest';
import { pythonWith } from '../e2e/trainer-python.js';
import { compareFolder } from './compare-folder.js';

const python = pythonWith(['torch', 'peft', 'sentence_transformers']);
if (python === undefined) {
  console.log('pairs.spec: skipped, PyTorch, PEFT or sentence-transformers is absent');
}
const MAKE_MS = 300_000;
/** Changes of one side of a tied model, beside those of the other. */
const FEATURES = ['rows', 'rows-of-both', 'saved-head', 'head', 'embedding', 'other-base'];

it.skipIf(python === undefined)(
  'adapters of two features have the numbers of PEFT, or are refused by name',
  async () => {
    const made = temporaryFolder({});
    const words = ['test/folders/pairs.py', '--out', made.path, '--features', ...FEATURES];
    expect(spawnSync(python as string, words, { stdio: 'ignore' }).status).toBe(0);
    const names = readdirSync(made.path);
    expect(names.length).toBeGreaterThan(20);
    for (const name of names) {
      const { verdict, detail } = await compareFolder(join(made.path, name));
      expect(['equal', 'refused'], `${name}: ${detail}`).toContain(verdict);
    }
    made.remove();
  },
  MAKE_MS,
);
