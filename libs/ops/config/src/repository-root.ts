import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the package, found from this file upwards, whether it runs from libs/ or dist/. */
function findRepositoryRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name === 'tessera') {
      return folder;
    }
    const parent = dirname(folder);
    if (parent === folder) return process.cwd();
    folder = parent;
  }
}

export const repositoryRoot = findRepositoryRoot();
