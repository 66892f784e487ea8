// The bill of materials of the image, as CycloneDX: npm's own list, with Node, Debian's packages
// and the libraries of the engine added.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianPackageOf, isForCards, output } from './engine-package.mjs';

const debian = ({ name, version }) => ({
  type: 'library',
  name,
  version,
  purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?distro=debian-12`,
});

/** Compiled into the engine from a package that npm leaves out as unused. */
const COMPILED_IN = /^(@nozbe\/simdjson|node-addon-api)$/;

const HEADERS_FOR_CARDS = 'native/src/cuda/library/requirements.txt';

/** Compiled into tessera_card.so, where the engine has it. */
function partsForCards(root) {
  if (!isForCards(root)) return [];
  const list = readFileSync(join(root, HEADERS_FOR_CARDS), 'utf8');
  const pinned = [...list.matchAll(/^([\w-]+)==(\S+)/gm)].map(([, name, version]) => {
    return { name, version, purl: `pkg:pypi/${name}@${version}` };
  });
  const runtime = { name: 'cuda-cudart', purl: 'pkg:generic/cuda-cudart' };
  return [...pinned, runtime].map((part) => ({
    type: 'library',
    ...part,
    description: 'compiled into tessera_card.so',
  }));
}

/** Packages of the lock, NAME@VERSION, that npm installs on other platforms alone. */
function ofOtherPlatforms(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const takes = (listed, own) => listed === undefined || listed.includes(own);
  const others = Object.entries(packages).filter(
    ([, { os, cpu, libc }]) =>
      !(takes(os, 'linux') && takes(cpu, process.arch) && takes(libc, 'glibc')),
  );
  return new Set(
    others.map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
  );
}

/**
 * @param packages of Debian, {name, version}
 * @param libraries files that the engine brings along
 * @param epoch seconds since 1970 of the build
 */
export function billOfMaterials(root, { packages, libraries, node, epoch }) {
  const words = ['sbom', '--omit=dev', '--package-lock-only', '--sbom-format=cyclonedx'];
  const bill = JSON.parse(output('npm', words, { cwd: root }));
  const others = ofOtherPlatforms(root);
  const isHere = (ref) => !others.has(ref);
  bill.components = bill.components.filter((component) => isHere(component['bom-ref']));
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => isHere(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isHere) }));
  const bundled = libraries.map((path) => {
    const owner = debianPackageOf(path);
    if (owner !== undefined) return owner;
    throw new Error(`${path}: expected a file of a package of Debian, got another one`);
  });
  const native = [...[...packages, ...bundled].map(debian), ...partsForCards(root)];
  const version = output(node, ['--version']).trim().slice(1);
  native.push({ type: 'platform', name: 'node', version, purl: `pkg:generic/node@${version}` });
  const known = new Set(bill.components.map(({ purl }) => purl));
  bill.components.push(...native.filter(({ purl }) => !known.has(purl)));
  for (const component of bill.components) {
    if (COMPILED_IN.test(component.name)) component.description = 'compiled into the engine';
  }
  bill.metadata.timestamp = new Date(1000 * epoch).toISOString();
  const hex = createHash('sha256').update(JSON.stringify(bill.components)).digest('hex');
  const uuid = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  bill.serialNumber = `urn:uuid:${[...uuid, hex.slice(20, 32)].join('-')}`;
  return bill;
}
