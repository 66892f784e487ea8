// `npm run image-root -- DIR`: the two layers of the image, base and release, in an empty folder,
// made of this build. The Dockerfile copies them; a unit of systemd runs the second.
import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODES_LOCK, nodeName, unpackPackages } from './packages.cjs';
import { billOfMaterials } from './release/bill-of-materials.mjs';
import { output } from './release/engine-package.mjs';
import { writeImageRoot } from './release/image-root.mjs';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const given = process.argv[2];
if (given === undefined || given.startsWith('-')) {
  console.error('usage: npm run image-root -- DIR');
  process.exit(2);
}
const folder = resolve(given);
process.chdir(repository);

const layers = { base: join(folder, 'base'), release: join(folder, 'release') };
for (const layer of Object.values(layers)) fs.mkdirSync(layer, { recursive: true });
// The official one of the lock file: what runs this may be another.
const [unpacked] = await unpackPackages(NODES_LOCK, [nodeName(24)]);
const node = join(unpacked, 'bin', 'node');
const parts = writeImageRoot(repository, layers, node);
const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? output('git', ['log', '-1', '--format=%ct']));
const bill = billOfMaterials(repository, { ...parts, node, epoch });
const path = join(layers.release, 'app', 'sbom.cdx.json');
fs.writeFileSync(path, `${JSON.stringify(bill, null, 2)}\n`);
console.log(`${folder}  ${bill.components.length} components`);
