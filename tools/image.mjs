// `npm run image -- [--to DIR] [--root DIR] [--test] [--twice]`: an OCI image of what is built
// here, by buildah, without a daemon and without being root, and its bill of materials.
//   --root DIR  only its root, to an empty folder: what the Dockerfile copies
//   --test      starts it as the user of the image, without capabilities, on a read-only root with
//               one writable volume, and asks it for a recall; needs to be root
//   --twice     builds it again and compares the digests
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import os from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODES_LOCK, nodeName, unpackPackages } from './packages.cjs';
import { billOfMaterials } from './release/bill-of-materials.mjs';
import { output } from './release/engine-package.mjs';
import { recallFrom } from './release/first-recall.mjs';
import { USER, writeImageRoot } from './release/image-root.mjs';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(repository);

const MEBIBYTE = 2 ** 20;
const BYTES_MAX = 160 * MEBIBYTE;
/** From the start of the process to the answer. */
const COLD_START_MS_MAX = 5000;
const COLD_START_PATIENCE_MS = 60_000;
const BUILD_MS_MAX = 600_000;

const isAsked = (flag) => process.argv.includes(flag);
function wordBehind(flag, fallback) {
  const at = process.argv.indexOf(flag);
  return at < 0 ? fallback : process.argv[at + 1];
}

/** The official one of the lock file: what runs this may be another. */
async function officialNode() {
  const [folder] = await unpackPackages(NODES_LOCK, [nodeName(24)]);
  return join(folder, 'bin', 'node');
}

function revision() {
  try {
    return output('git', ['rev-parse', 'HEAD']).trim();
  } catch {
    return '';
  }
}

function epochOfBuild() {
  const given = process.env.SOURCE_DATE_EPOCH;
  return Number(given ?? output('git', ['log', '-1', '--format=%ct']));
}

/** Folders of both layers, as the Dockerfile's last stage takes them. */
function layersIn(folder) {
  const layers = { base: join(folder, 'base'), release: join(folder, 'release') };
  for (const layer of Object.values(layers)) fs.mkdirSync(layer, { recursive: true });
  return layers;
}

/** The last stage of the Dockerfile over roots of this machine, as an OCI layout. */
function buildah(work, folder, { version, epoch }) {
  // Images of its own: those of this machine stay as they are.
  const store = ['--storage-driver', 'vfs', '--root', join(work, 'store')];
  const words = [
    ...[...store, '--runroot', join(work, 'run'), 'build', '--quiet', '--isolation', 'chroot'],
    ...['--format', 'oci', '--disable-compression=false', '--layers', '--target', 'image'],
    ...['--timestamp', String(epoch)],
    ...['--build-context', `build=${work}`, '--tag', `oci:${folder}:${version}`],
    ...['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision()}`],
    ...['--file', 'Dockerfile', '--ignorefile', '/dev/null', work],
  ];
  try {
    output('buildah', words, { timeout: BUILD_MS_MAX });
  } catch (error) {
    throw new Error(`buildah (apt-get install buildah): ${error.message}`);
  }
}

async function build(folder) {
  const work = fs.mkdtempSync(join(os.tmpdir(), 'tessera-image-'));
  const layers = layersIn(join(work, 'root-of-image'));
  const node = await officialNode();
  const parts = writeImageRoot(repository, layers, node);
  const epoch = epochOfBuild();
  const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  buildah(work, folder, { version, epoch });
  const bill = billOfMaterials(repository, { ...parts, node, epoch });
  fs.writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
  const [{ digest }] = JSON.parse(fs.readFileSync(join(folder, 'index.json'), 'utf8')).manifests;
  const blobs = join(folder, 'blobs', 'sha256');
  const sizes = fs.readdirSync(blobs).map((name) => fs.statSync(join(blobs, name)).size);
  return {
    digest,
    layers,
    components: bill.components.length,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    clear: () => fs.rmSync(work, { recursive: true, force: true }),
  };
}

/** Both layers in one folder, as a container has them. */
function rootOf({ base, release }) {
  fs.cpSync(join(release, 'app'), join(base, 'app'), { recursive: true });
  return base;
}

/** The mounts of a container runtime, by hand: a root that nobody writes to, and one volume. */
const CONTAINED = `set -e
mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"
mount --bind "$2" "$1/app/data"; mount -t proc proc "$1/proc"
mount --bind /dev "$1/dev"
exec setpriv --no-new-privs unshare -R "$1" -w /app -S ${USER} -G ${USER} -- \\
  /usr/bin/tini -- node dist/apps/standalone/src/main.js`;

/**
 * Ends the first process of the namespace, and unshare with it: unshare itself takes no signal
 * while it waits, and the kernel forgets --kill-child when the process becomes another user.
 */
function endContained({ pid }) {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  for (const child of children.split(' ').filter(Boolean)) process.kill(Number(child), 'SIGTERM');
}

async function tryImage(root) {
  if (process.getuid?.() !== 0) {
    console.log('not started here: mounts need root');
    return;
  }
  const volume = fs.mkdtempSync(join(os.tmpdir(), 'tessera-volume-'));
  fs.chownSync(volume, USER, USER);
  const words = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', CONTAINED];
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: '/app' };
  Object.assign(env, { TESSERA_HTTP_PORT: '0', TESSERA_GRPC_PORT: '0' });
  const child = spawn('unshare', [...words, 'sh', root, volume], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const items = await recallFrom(child, COLD_START_PATIENCE_MS, () => endContained(child));
  console.log(`started read-only as ${USER}: ${items.count} items after ${items.ms} ms`);
  fs.rmSync(volume, { recursive: true, force: true });
  if (items.ms > COLD_START_MS_MAX) {
    console.log(`slower than ${COLD_START_MS_MAX} ms: on a machine with nothing else to do?`);
  }
}

async function main() {
  const only = wordBehind('--root', undefined);
  if (only !== undefined) {
    writeImageRoot(repository, layersIn(resolve(only)), await officialNode());
    return;
  }
  const folder = resolve(wordBehind('--to', join('build', 'image')));
  const { digest, bytes, components, layers, clear } = await build(folder);
  try {
    console.log(`${folder}  ${digest}  ${(bytes / MEBIBYTE).toFixed(1)} MiB`);
    console.log(`${join(folder, 'sbom.cdx.json')}  ${components} components`);
    if (bytes > BYTES_MAX) throw new Error(`expected at most ${BYTES_MAX} bytes, got ${bytes}`);
    if (isAsked('--test')) await tryImage(rootOf(layers));
  } finally {
    clear();
  }
  if (!isAsked('--twice')) return;
  const again = await build(`${folder}-again`);
  again.clear();
  fs.rmSync(`${folder}-again`, { recursive: true });
  if (again.digest !== digest) throw new Error(`expected ${digest} again, got ${again.digest}`);
  console.log('built twice: the same digest');
}

await main();
