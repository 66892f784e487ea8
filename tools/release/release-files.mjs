// The files that a release runs with: one list for the image and the npm packages.
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';

/** Programs of tools/ that work without this repository; `tessera COMMAND` starts them. */
export const COMMANDS = [
  ...['recall', 'catalogue', 'adapter', 'weights', 'relevance', 'embed', 'cluster'],
  ...['backup', 'restore', 'repair', 'dead-letters', 'doctor'],
  ...['evaluate', 'outcomes', 'tune', 'simulate'],
];

/** Started by their paths as processes and threads, or loaded by programs: folders of dist/. */
const COMPILED = ['apps', 'chunks', 'libs', 'native', 'tools'].map((name) => join('dist', name));
const OTHERS = [
  ...[join('build', 'console'), join('build', 'swagger-ui'), 'proto', join('models', 'demo')],
  ...['LICENSE', 'NOTICE', 'CHANGELOG.md'],
];
/** Tests, tests' libraries, what only debuggers read, and programs with packages of their own. */
const LEFT_OUT = new RegExp(
  [
    ...[String.raw`\.map$`, String.raw`\.spec\.js$`, '/fixture/', '^dist/libs/testing/'],
    ...['^dist/tools/(quickstart|report|world)', '^dist/chunks/charts-'],
  ].join('|'),
);

function filesBelow(root, path) {
  const at = join(root, path);
  if (!fs.existsSync(at)) throw new Error(`${path} is missing: npm run bootstrap`);
  if (!fs.statSync(at).isDirectory()) return [path];
  const names = fs.readdirSync(at).sort();
  return names.flatMap((name) => filesBelow(root, join(path, name)));
}

/** @returns paths from the root of the repository, in order */
export function releaseFiles(root) {
  const all = [...COMPILED, ...OTHERS].flatMap((path) => filesBelow(root, path));
  return all.filter((path) => !LEFT_OUT.test(path));
}

/** Bundled into dist/chunks (tools/build-typescript.mjs), from where they load what they need. */
const BUNDLED = ['common', 'core', 'microservices', 'platform-fastify'];

/** Compiled in, or headers. */
const COMPILED_IN = new Set(['@nozbe/simdjson', 'node-addon-api', 'node-api-headers']);

const ENGINE = '@tessera/engine-linux-x64';

/** package.json of a release: what `npm install` needs, and nothing of the repository. */
export function releaseManifest(root) {
  const read = (path) => JSON.parse(fs.readFileSync(join(root, path), 'utf8'));
  const { version, description, license, type, engines, dependencies } = read('package.json');
  const { packages } = read('package-lock.json');
  const locked = (name) => packages[join('node_modules', name)];
  const bundled = BUNDLED.map((name) => locked(`@nestjs/${name}`));
  const theirs = bundled.flatMap((entry) => Object.keys(entry.dependencies ?? {}));
  const pinned = Object.fromEntries(theirs.map((name) => [name, locked(name).version]));
  const own = Object.entries(dependencies).filter(([dependency]) => !COMPILED_IN.has(dependency));
  return {
    name: '@tessera/service',
    version,
    description,
    license,
    type,
    engines,
    bin: { tessera: 'bin/tessera.mjs' },
    dependencies: { ...pinned, ...Object.fromEntries(own) },
    optionalDependencies: { [ENGINE]: version },
  };
}

/**
 * npm-shrinkwrap.json of a release: all packages below it as they are locked here, so that an
 * installation has the versions that were tested.
 */
export function releaseLock(root) {
  const { lockfileVersion, packages } = JSON.parse(
    fs.readFileSync(join(root, 'package-lock.json'), 'utf8'),
  );
  const { name, version, license, bin, engines, dependencies, optionalDependencies } =
    releaseManifest(root);
  const kept = Object.entries(packages).filter(
    ([path, { dev }]) => path !== '' && !dev && !COMPILED_IN.has(path.replace('node_modules/', '')),
  );
  return {
    name,
    version,
    lockfileVersion,
    requires: true,
    packages: {
      '': { name, version, license, dependencies, optionalDependencies, bin, engines },
      ...Object.fromEntries(kept),
      [`node_modules/${ENGINE}`]: { version, optional: true, os: ['linux'], cpu: ['x64'] },
    },
  };
}

const MODE_EXECUTABLE = 0o755;
const MODE_FILE = 0o644;

/** Writes a release without node_modules and engine to a folder that is not there yet. */
export function writeRelease(root, folder) {
  for (const path of releaseFiles(root)) {
    const to = join(folder, path);
    fs.mkdirSync(dirname(to), { recursive: true });
    fs.copyFileSync(join(root, path), to);
    fs.chmodSync(to, MODE_FILE);
  }
  fs.mkdirSync(join(folder, 'bin'));
  fs.copyFileSync(
    join(root, 'tools', 'release', 'tessera.mjs'),
    join(folder, 'bin', 'tessera.mjs'),
  );
  fs.chmodSync(join(folder, 'bin', 'tessera.mjs'), MODE_EXECUTABLE);
  const health = join(root, 'tools', 'release', 'health.mjs');
  fs.copyFileSync(health, join(folder, 'bin', 'health.mjs'));
  const manifest = JSON.stringify(releaseManifest(root), null, 2);
  fs.writeFileSync(join(folder, 'package.json'), `${manifest}\n`);
}
