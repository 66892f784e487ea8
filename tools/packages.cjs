// biome-ignore-all lint/style/useNodejsImportProtocol: Node 12 does not know node:
'use strict';
// Unpacks packages of a lock file into .cache/packages before `npm ci` has run: the Node that runs
// everything else, and the headers that the engine is compiled with. What is unpacked has the
// integrity that the lock file names. Runs on any Node from 12 on, with its modules alone.
const { spawnSync } = require('child_process');
const { createHash } = require('crypto');
const fs = require('fs');
const { dirname, join } = require('path');
const { runNpm, succeed } = require('./npm.cjs');

const root = dirname(__dirname);
const PACKAGES = join(root, '.cache', 'packages');

/** Official Node binaries, and the npm that goes with them. */
const NODES_LOCK = 'test/nodes/package-lock.json';
/** The name of a major version's binary for this processor in NODES_LOCK. */
const nodeName = (major) => `node-${major}${process.arch === 'arm64' ? '-arm64' : ''}`;

/** The entry of a package in a lock file; a name may stand for another (`npm:`). */
function entryOf(lockFile, name) {
  const entry = JSON.parse(fs.readFileSync(join(root, lockFile), 'utf8')).packages[
    `node_modules/${name}`
  ];
  return {
    name,
    path: join(PACKAGES, name),
    named: entry.name || name,
    version: entry.version,
    integrity: entry.integrity,
  };
}

function isUnpacked({ path, version }) {
  try {
    return JSON.parse(fs.readFileSync(join(path, 'package.json'), 'utf8')).version === version;
  } catch (_error) {
    return false;
  }
}

const remove = (path) => spawnSync('rm', ['-rf', path]);

/** One archive into its folder, by a rename: whole or not at all, whoever else does it as well. */
async function unpackInto(entry, folder) {
  const archive = join(
    folder,
    `${entry.named.replace(/^@/, '').replace('/', '-')}-${entry.version}.tgz`,
  );
  const sum = createHash('sha512').update(fs.readFileSync(archive)).digest('base64');
  if (`sha512-${sum}` !== entry.integrity) {
    throw new Error(`${entry.named}: expected ${entry.integrity}, got sha512-${sum}`);
  }
  const own = join(folder, entry.name.replace('/', '-'));
  fs.mkdirSync(own);
  // -m: files are as new as their unpacking, so that a build sees that they changed.
  await succeed('tar', ['-xzmf', archive, '-C', own, '--strip-components=1'], {
    stdio: ['ignore', 2, 2],
  });
  fs.mkdirSync(dirname(entry.path), { recursive: true });
  remove(entry.path);
  try {
    fs.renameSync(own, entry.path);
  } catch (error) {
    if (!isUnpacked(entry)) throw error;
  }
}

/**
 * Packages by their names in a lock file; those that are there are left alone. Rejects as runNpm()
 * does, and with both sums where an archive is another.
 *
 * @param lockFile relative to the repository
 * @returns the folder of each
 */
async function unpackPackages(lockFile, names, env = process.env) {
  const entries = names.map((name) => entryOf(lockFile, name));
  const missing = entries.filter((entry) => !isUnpacked(entry));
  if (missing.length > 0) {
    fs.mkdirSync(PACKAGES, { recursive: true });
    const folder = fs.mkdtempSync(join(PACKAGES, '.new-'));
    try {
      const wanted = missing.map((entry) => `${entry.named}@${entry.version}`);
      const words = ['pack', '--silent', '--pack-destination', folder].concat(wanted);
      await runNpm(words, { cwd: folder, env, stdio: ['ignore', 'ignore', 2] });
      for (const entry of missing) await unpackInto(entry, folder);
    } finally {
      remove(folder);
    }
  }
  return entries.map((entry) => entry.path);
}

module.exports = { NODES_LOCK, PACKAGES, nodeName, unpackPackages };
