// The npm package of callers: JavaScript and types of clients/node, and the proto files that they
// are made from.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { output } from './engine-package.mjs';

const TSC = join('node_modules', 'typescript7', 'bin', 'tsc');

/** Writes @tessera/client to a folder that is not there yet. */
export function writeClientPackage(root, folder) {
  const source = join(root, 'clients', 'node');
  fs.mkdirSync(folder);
  const words = ['-p', source, '--outDir', join(folder, 'dist')];
  output(process.execPath, [join(root, TSC), ...words], { cwd: root });
  fs.cpSync(join(root, 'proto'), join(folder, 'proto'), { recursive: true });
  for (const name of ['package.json', 'README.md', 'LICENSE']) {
    fs.copyFileSync(join(source, name), join(folder, name));
  }
}
