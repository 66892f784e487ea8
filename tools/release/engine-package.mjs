// The native engine as a package: the addon, and beside it the libraries that it links, but for
// those of every Linux. The addon's RPATH is its own folder (native/src/bridge/CMakeLists.txt).
// A build for cards is a package of another name, with tessera_card.so beside the addon.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { basename, join } from 'node:path';

const ADDON = join('build', 'native', 'tessera.node');
const CARD_LIBRARY = join('build', 'native', 'tessera_card.so');
/** Licences of what it has compiled in (tools/cutlass.mjs). */
const CARD_LICENCES = join('.cache', 'cutlass', 'licences');

/** Libraries of glibc and GCC: the official Node needs them too, and may only be there once. */
const OF_SYSTEM = /^(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so)/;

export function output(command, words, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, words, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    ...options,
  });
  if (status === 0) return stdout;
  throw new Error(`${command} ${words.join(' ')}: ${error?.message ?? stderr.trim()}`);
}

/** Shared libraries that a release brings along: the name that is looked for, and the file. */
export function bundledLibraries(addon) {
  return output('ldd', [addon])
    .split('\n')
    .map((line) => /^\s*(\S+) => (\S+)/.exec(line))
    .filter((match) => match !== null && !OF_SYSTEM.test(match[1]))
    .map(([, name, path]) => ({ name, path: fs.realpathSync(path) }));
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: a format of dpkg-query
const FIELD = '${Version}';

/**
 * Debian's package of a file: its name, version and licences; undefined where dpkg knows none. Some
 * packages list their files as they lay before /lib was merged into /usr.
 */
export function debianPackageOf(path) {
  try {
    const listed = [path, path.replace(/^\/usr(?=\/lib)/, '')];
    const owners = spawnSync('dpkg', ['-S', ...listed], { encoding: 'utf8' }).stdout;
    const owner = owners.split(':')[0];
    const version = output('dpkg-query', ['-W', '-f', FIELD, owner]);
    return { name: owner, version, copyright: `/usr/share/doc/${owner}/copyright` };
  } catch {
    return undefined;
  }
}

/** The newest version of a library of the system that files ask for, as in `GLIBC` 2.36. */
function newestNeeded(files, prefix) {
  const asked = files.flatMap((file) => {
    const names = output('objdump', ['-T', file]).matchAll(
      new RegExp(`\\b${prefix}_([0-9.]+)`, 'g'),
    );
    return [...names].map(([, version]) => version);
  });
  const numeric = new Intl.Collator('en', { numeric: true }).compare;
  return asked.sort(numeric).at(-1) ?? '';
}

/** True where this build has kernels for cards: `npm run bootstrap -- --cuda`. */
export const isForCards = (root) => fs.existsSync(join(root, CARD_LIBRARY));

/** The name for this platform and build; native/ts/load.ts looks for both. */
export function enginePackageName(root) {
  return `@tessera/engine-${process.platform}-${process.arch}${isForCards(root) ? '-cuda' : ''}`;
}

/** @returns its path in the package */
function writeCardLibrary(root, folder) {
  const library = join(folder, 'tessera_card.so');
  output('strip', ['--strip-unneeded', '-o', library, join(root, CARD_LIBRARY)]);
  fs.cpSync(join(root, CARD_LICENCES), join(folder, 'licences'), { recursive: true });
  return library;
}

/** Writes the package for this platform to a folder that is not there yet. */
export function writeEnginePackage(root, folder) {
  const { version, license } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
  const { platform, arch } = process;
  fs.mkdirSync(join(folder, 'licences'), { recursive: true });
  const addon = join(folder, 'tessera.node');
  output('strip', ['--strip-unneeded', '-o', addon, join(root, ADDON)]);
  const libraries = bundledLibraries(join(root, ADDON));
  for (const { name, path } of libraries) {
    output('strip', ['--strip-unneeded', '-o', join(folder, name), path]);
    const owner = debianPackageOf(path);
    if (owner === undefined) continue;
    fs.copyFileSync(owner.copyright, join(folder, 'licences', owner.name));
  }
  for (const name of ['LICENSE', 'NOTICE']) {
    fs.copyFileSync(join(root, name), join(folder, name));
  }
  const files = [addon, ...libraries.map(({ name }) => join(folder, name))];
  if (isForCards(root)) files.push(writeCardLibrary(root, folder));
  const glibc = newestNeeded(files, 'GLIBC');
  const manifest = {
    name: enginePackageName(root),
    version,
    description: `Native engine of tessera for ${platform} ${arch}, glibc ${glibc} or later`,
    license,
    os: [platform],
    cpu: [arch],
    libc: ['glibc'],
    main: 'tessera.node',
    files: [...files.map((path) => basename(path)), 'licences', 'NOTICE'],
  };
  fs.writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const file of files) fs.chmodSync(file, 0o755);
  return { glibc, libraries: libraries.map(({ path }) => path) };
}
