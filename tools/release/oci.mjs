// An image as an OCI layout (opencontainers/image-spec 1.1), written by tar and gzip: the same root
// and the same SOURCE_DATE_EPOCH give the same bytes.
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { output } from './engine-package.mjs';

const MEDIA = 'application/vnd.oci.image';

function digestOf(path) {
  const hash = createHash('sha256');
  const file = fs.openSync(path, 'r');
  const part = Buffer.alloc(1 << 20);
  for (let count = fs.readSync(file, part); count > 0; count = fs.readSync(file, part)) {
    hash.update(part.subarray(0, count));
  }
  fs.closeSync(file);
  return `sha256:${hash.digest('hex')}`;
}

/** Entries of a root as a compressed layer. */
function writeLayer(blobs, root, { entries, owned }, epoch) {
  const tar = join(blobs, 'layer.tar');
  const same = ['--sort=name', `--mtime=@${epoch}`, '--numeric-owner', '--format=posix'];
  const plain = ['--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime'];
  const add = (mode, owner, names) => {
    const owners = [`--owner=${owner}`, `--group=${owner}`];
    output('tar', [mode, '-f', tar, '-C', root, ...same, ...plain, ...owners, ...names]);
  };
  const excluded = owned.map(({ path }) => `--exclude=./${path}`);
  add('-c', 0, [...excluded, ...entries.map((entry) => `./${entry}`)]);
  for (const { path, owner } of owned) add('-r', owner, [`./${path}`]);
  const diffId = digestOf(tar);
  output('gzip', ['-9', '-n', tar]);
  return { diffId, blob: keep(blobs, `${tar}.gz`, `${MEDIA}.layer.v1.tar+gzip`) };
}

function keep(blobs, path, mediaType) {
  const digest = digestOf(path);
  const { size } = fs.statSync(path);
  fs.renameSync(path, join(blobs, digest.slice('sha256:'.length)));
  return { mediaType, digest, size };
}

function keepJson(blobs, value, mediaType) {
  const path = join(blobs, 'object.json');
  fs.writeFileSync(path, JSON.stringify(value));
  return keep(blobs, path, mediaType);
}

/**
 * Writes a layout to a folder that is not there yet.
 * @param layers `{entries, owned}`: names in the root, and folders of another owner
 * @param config of the image specification
 * @returns the digest of the manifest, and bytes of all blobs
 */
export function writeLayout(folder, root, { layers, config, epoch, tag, annotations }) {
  const blobs = join(folder, 'blobs', 'sha256');
  fs.mkdirSync(blobs, { recursive: true });
  const made = layers.map((layer) => writeLayer(blobs, root, layer, epoch));
  const created = new Date(1000 * epoch).toISOString();
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  const image = {
    created,
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: made.map(({ diffId }) => diffId) },
    history: made.map((_, at) => ({ created, created_by: `tools/image.mjs layer ${at}` })),
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: `${MEDIA}.manifest.v1+json`,
    config: keepJson(blobs, image, `${MEDIA}.config.v1+json`),
    layers: made.map(({ blob }) => blob),
    annotations,
  };
  const kept = keepJson(blobs, manifest, manifest.mediaType);
  const named = { 'org.opencontainers.image.ref.name': tag };
  const index = { schemaVersion: 2, manifests: [{ ...kept, annotations: named }] };
  fs.writeFileSync(join(folder, 'index.json'), JSON.stringify(index));
  fs.writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  const bytes = made.reduce((sum, { blob }) => sum + blob.size, kept.size);
  return { digest: kept.digest, bytes };
}
