// `npm run image -- [--to DIR] [--root DIR] [--test] [--twice]`: an OCI image of what is built
// here, without a daemon and without being root, and its bill of materials.
//   --root DIR  only its root, to an empty folder: what the Dockerfile copies
//   --test      starts it as the user of the image, without capabilities, on a read-only root with
//               one writable volume, and asks it for a recall; needs to be root
//   --twice     builds it again and compares the digests
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import os from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackPackages } from './packages.cjs';
import { billOfMaterials } from './release/bill-of-materials.mjs';
import { output } from './release/engine-package.mjs';
import { recallFrom } from './release/first-recall.mjs';
import { USER, writeImageRoot } from './release/image-root.mjs';
import { writeLayout } from './release/oci.mjs';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(repository);

const MEBIBYTE = 2 ** 20;
const BYTES_MAX = 160 * MEBIBYTE;
/** From the start of the process to the answer. */
const COLD_START_MS_MAX = 5000;
const COLD_START_PATIENCE_MS = 60_000;

const isAsked = (flag) => process.argv.includes(flag);
function wordBehind(flag, fallback) {
  const at = process.argv.indexOf(flag);
  return at < 0 ? fallback : process.argv[at + 1];
}

/** The official one of the lock file: what runs this may be another. */
async function officialNode() {
  const name = process.arch === 'arm64' ? 'node-24-arm64' : 'node-24';
  const [folder] = await unpackPackages('test/nodes/package-lock.json', [name]);
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

const SECOND_NS = 1e9;

function imageConfig(labels) {
  return {
    User: `${USER}:${USER}`,
    WorkingDir: '/app',
    Entrypoint: ['/usr/bin/tini', '--'],
    Cmd: ['node', 'dist/apps/standalone/src/main.js'],
    Env: ['PATH=/usr/local/bin:/usr/bin', 'NODE_ENV=production'],
    ExposedPorts: { '8080/tcp': {}, '50051/tcp': {} },
    Volumes: { '/app/data': {} },
    StopSignal: 'SIGTERM',
    Labels: labels,
    Healthcheck: {
      Test: ['CMD', 'node', 'bin/health.mjs'],
      Interval: 10 * SECOND_NS,
      Timeout: 5 * SECOND_NS,
      StartPeriod: 60 * SECOND_NS,
    },
  };
}

function buildImage(root, folder, facts) {
  const { version, description, license } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
  const prefix = 'org.opencontainers.image';
  const labels = {
    [`${prefix}.title`]: 'tessera',
    [`${prefix}.description`]: description,
    [`${prefix}.version`]: version,
    [`${prefix}.revision`]: revision(),
    [`${prefix}.licenses`]: license,
  };
  const base = fs.readdirSync(root).filter((name) => name !== 'app');
  const { epoch } = facts;
  const made = writeLayout(folder, root, {
    // The base changes with Debian and Node alone.
    layers: [
      { entries: base, owned: [] },
      { entries: ['app'], owned: [{ path: 'app/data', owner: USER }] },
    ],
    config: imageConfig(labels),
    epoch,
    tag: version,
    annotations: labels,
  });
  const bill = billOfMaterials(repository, facts);
  fs.writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
  return { ...made, components: bill.components.length };
}

async function build(folder) {
  const work = fs.mkdtempSync(join(os.tmpdir(), 'tessera-image-'));
  const root = join(work, 'root');
  fs.mkdirSync(root);
  const node = await officialNode();
  const parts = writeImageRoot(repository, root, node);
  fs.rmSync(folder, { recursive: true, force: true });
  const made = buildImage(root, folder, { ...parts, node, epoch: epochOfBuild() });
  return { ...made, root, clear: () => fs.rmSync(work, { recursive: true, force: true }) };
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
    writeImageRoot(repository, resolve(only), await officialNode());
    return;
  }
  const folder = resolve(wordBehind('--to', join('build', 'image')));
  const { digest, bytes, components, root, clear } = await build(folder);
  try {
    console.log(`${folder}  ${digest}  ${(bytes / MEBIBYTE).toFixed(1)} MiB`);
    console.log(`${join(folder, 'sbom.cdx.json')}  ${components} components`);
    if (bytes > BYTES_MAX) throw new Error(`expected at most ${BYTES_MAX} bytes, got ${bytes}`);
    if (isAsked('--test')) await tryImage(root);
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
