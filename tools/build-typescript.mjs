// Compiles every TypeScript folder to dist/ with SWC. dist/ is replaced as a whole, so a source
// that
// was deleted leaves nothing behind; it appears under its name only when all files compiled.
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folders = ['apps', 'libs', 'native/ts', 'tools', 'bench', 'examples', 'test'];
const fresh = `dist.${process.pid}`;

/** The pages of the console are built by Vite. */
const ignored = [
  'apps/console/web/**',
  ...['**/*.spec.ts', '**/*.mjs', '**/*.cjs', '**/*.js', '**/*.d.ts', '**/*.d.mts'],
];

function compile() {
  const present = folders.filter((folder) => existsSync(join(root, folder)));
  const swc = join(root, 'node_modules/@swc/cli/bin/swc.js');
  const result = spawnSync(
    process.execPath,
    [swc, ...present, '-d', fresh, '--config-file', '.swcrc', '--ignore', ignored.join(',')],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  return result.status ?? 1;
}

const status = compile();
if (status !== 0) {
  rmSync(join(root, fresh), { recursive: true, force: true });
  console.error('build-typescript: SWC failed; dist/ is unchanged');
  process.exit(status);
}
rmSync(join(root, 'dist'), { recursive: true, force: true });
renameSync(join(root, fresh), join(root, 'dist'));
