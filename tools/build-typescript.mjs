// Compiles every TypeScript folder to dist/ with SWC, then bundles the programs that people start:
// what they need of a thousand small modules comes from some files (ADR 0056). dist/ is replaced as
// a whole, so a source that was deleted leaves nothing behind; it appears under its name only when
// all files compiled.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folders = ['apps', 'libs', 'native/ts', 'tools', 'bench', 'examples', 'test'];
const fresh = `dist.${process.pid}`;

/** The pages of the console are built by Vite. */
const ignored = [
  'apps/console/web/**',
  ...['**/*.spec.ts', '**/*.mjs', '**/*.cjs', '**/*.js', '**/*.d.ts', '**/*.d.mts', '**/*.d.cts'],
];

function compile() {
  const present = folders.filter((folder) => existsSync(join(root, folder)));
  const swc = join(root, 'node_modules/@swc/cli/bin/swc.js');
  const result = spawnSync(
    process.execPath,
    [swc, ...present, '-d', fresh, '--config-file', '.swcrc', '--ignore', ignored.join(',')],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  if (result.status !== 0) throw new Error('SWC failed');
}

/** Programs that commands of package.json start, but for tests and benchmarks. */
function programs(folder) {
  const apps = readdirSync(join(folder, 'apps')).map((app) => `apps/${app}/src/main.js`);
  const tools = readdirSync(join(folder, 'tools')).map((file) => `tools/${file}`);
  return [...apps, ...tools].filter((file) => /\.js$/.test(file) && existsSync(join(folder, file)));
}

/** Of packages those alone that consist of hundreds of modules; the others stay what they are. */
const BUNDLED_PACKAGES = /^(@nestjs\/(common|core|microservices|platform-fastify)|rxjs|zod)(\/|$)/;

const isOwn = (id) => id.startsWith('.') || id.startsWith('/');

/** Puts each program in its own place; what programs share lies in dist/chunks. */
async function bundle() {
  const folder = join(root, fresh);
  const build = await rolldown({
    input: Object.fromEntries(
      programs(folder).map((file) => [file.slice(0, -'.js'.length), join(folder, file)]),
    ),
    cwd: folder,
    platform: 'node',
    external: (id) => !isOwn(id) && !BUNDLED_PACKAGES.test(id),
  });
  await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: true,
    // Nest tells its providers and its exceptions by the names of their classes.
    keepNames: true,
    // Decorators need what reflect-metadata defines before they run.
    strictExecutionOrder: true,
  });
  await build.close();
}

try {
  compile();
  await bundle();
} catch (error) {
  rmSync(join(root, fresh), { recursive: true, force: true });
  console.error(`build-typescript: ${error.message}; dist/ is unchanged`);
  process.exit(1);
}
rmSync(join(root, 'dist'), { recursive: true, force: true });
renameSync(join(root, fresh), join(root, 'dist'));
