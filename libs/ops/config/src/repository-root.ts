import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Package names of the repository, and of what tools/release makes of it. */
const NAMES = new Set(['tessera', '@tessera/service']);

/** The folder of the package, found from this file upwards, whether it runs from libs/ or dist/. */
function findRepositoryRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && NAMES.has(JSON.parse(readFileSync(manifest, 'utf8')).name)) {
      return folder;
    }
    const parent = dirname(folder);
    if (parent === folder) return process.cwd();
    folder = parent;
  }
}

export const repositoryRoot = findRepositoryRoot();

/**
 * Stores that no key names lie below it. An installed package is replaced as a whole by the next
 * one, so they lie in the working folder there.
 */
export function dataRootOf(root: string, workingFolder: string): string {
  return root.split(sep).includes('node_modules') ? workingFolder : root;
}

export const dataRoot = dataRootOf(repositoryRoot, process.cwd());
