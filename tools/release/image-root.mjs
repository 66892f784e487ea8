// The root of the image: Debian's C library, GCC's, dash, tini, the official Node and /app. No
// package manager, no compiler.
import * as fs from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { enginePackageName, output, writeEnginePackage } from './engine-package.mjs';
import { installModules } from './production-modules.mjs';
import { writeRelease } from './release-files.mjs';

const USER = 10_001;
/** Libraries of Node and the engine; the shell limits the processes of analysts' queries. */
const PACKAGES = [...['libc6', 'libgcc-s1', 'libstdc++6', 'dash', 'tini', 'base-files', 'tzdata']];
/** Programs of packages of which nothing else is wanted: they keep those queries behind recalls. */
const PROGRAMS = { 'util-linux': ['./usr/bin/chrt', './usr/bin/taskset'] };
/** As Debian links them since its merge of /usr. */
const MERGED = ['bin', 'sbin', 'lib', 'lib64'];
const LEFT_OUT = [
  './usr/share/doc/*/*.gz',
  './usr/share/man',
  './usr/share/lintian',
  './usr/lib/x86_64-linux-gnu/gconv',
];

function unpack(deb, root, members) {
  const words = ['-C', root, '-x', '--keep-directory-symlink', '--no-same-owner'];
  const excluded = LEFT_OUT.flatMap((pattern) => ['--exclude', pattern]);
  const shell = `dpkg-deb --fsys-tarfile "$0" | tar "$@"`;
  output('sh', ['-c', shell, deb, ...words, ...excluded, ...members]);
}

/** @returns name and version of each package of Debian in it */
function writeBase(root) {
  for (const name of MERGED) {
    fs.mkdirSync(join(root, 'usr', name), { recursive: true });
    fs.symlinkSync(join('usr', name), join(root, name));
  }
  fs.symlinkSync('dash', join(root, 'usr', 'bin', 'sh'));
  const debs = fs.mkdtempSync(join(os.tmpdir(), 'tessera-debs-'));
  try {
    const names = [...PACKAGES, ...Object.keys(PROGRAMS)];
    output('apt-get', ['download', '-q', ...names], { cwd: debs });
    return fs.readdirSync(debs).map((file) => {
      const deb = join(debs, file);
      const field = (name) => output('dpkg-deb', ['-f', deb, name]).trim();
      const name = field('Package');
      unpack(deb, root, PROGRAMS[name] ?? []);
      return { name, version: field('Version') };
    });
  } finally {
    fs.rmSync(debs, { recursive: true, force: true });
  }
}

function writeAccounts(root) {
  const etc = join(root, 'etc');
  const nobody = 'nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin';
  const own = `tessera:x:${USER}:${USER}:Tessera:/app:/sbin/nologin`;
  fs.writeFileSync(join(etc, 'passwd'), `root:x:0:0:root:/root:/sbin/nologin\n${own}\n${nobody}\n`);
  fs.writeFileSync(join(etc, 'group'), `root:x:0:\ntessera:x:${USER}:\nnogroup:x:65534:\n`);
  for (const name of ['proc', 'sys', 'dev', 'tmp', 'root']) {
    fs.mkdirSync(join(root, name), { recursive: true });
  }
}

/**
 * Writes the root to two empty folders, which are two layers: the base, and the release.
 * @param node the official binary
 * @returns packages of Debian and libraries of the engine in it, for the bill of materials
 */
export function writeImageRoot(repository, { base, release }, node) {
  const packages = writeBase(base);
  writeAccounts(base);
  const app = join(release, 'app');
  writeRelease(repository, app);
  installModules(repository, app);
  const engine = join(app, 'node_modules', enginePackageName(repository));
  const { libraries } = writeEnginePackage(repository, engine);
  fs.mkdirSync(join(app, 'data'));
  const bin = join(base, 'usr', 'local', 'bin');
  fs.mkdirSync(bin, { recursive: true });
  fs.copyFileSync(node, join(bin, 'node'));
  fs.chmodSync(join(bin, 'node'), 0o755);
  return { packages, libraries };
}
