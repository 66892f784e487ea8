// Headers and licences of CUTLASS and FlashInfer, for native/src/cuda/library: a step of
// bootstrap.mjs, so node: modules alone.
import * as fs from 'node:fs';
import { join } from 'node:path';

const LIST = 'native/src/cuda/library/requirements.txt';
const folder = join('.cache', 'cutlass');
/** The start of the name of the folder in which pip keeps what it knows of each. */
const LICENCES = {
  CUTLASS: { of: 'nvidia_cutlass', file: 'LICENSE.txt' },
  FlashInfer: { of: 'flashinfer_python', file: 'LICENSE' },
};

function keepLicences(fresh, to) {
  fs.mkdirSync(to);
  const names = fs.readdirSync(fresh).filter((name) => name.endsWith('.dist-info'));
  for (const [name, { of, file }] of Object.entries(LICENCES)) {
    const known = names.find((each) => each.startsWith(`${of}-`));
    fs.copyFileSync(join(fresh, known, 'licenses', file), join(to, name));
  }
}

/** By pip, which compares the digest; whole or not at all. */
async function fetchHeaders(run) {
  const fresh = `${folder}.new`;
  fs.rmSync(fresh, { recursive: true, force: true });
  const words = ['download', '-q', '--no-deps', '--require-hashes', '-d', fresh, '-r', LIST];
  await run('python3', ['-m', 'pip', '--disable-pip-version-check', ...words]);
  for (const wheel of fs.readdirSync(fresh)) {
    await run('python3', ['-m', 'zipfile', '-e', join(fresh, wheel), fresh]);
  }
  const include = join(fresh, 'cutlass_library', 'source', 'include');
  const flashinfer = join(fresh, 'flashinfer', 'data', 'include', 'flashinfer');
  fs.renameSync(flashinfer, join(include, 'flashinfer'));
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder);
  keepLicences(fresh, join(folder, 'licences'));
  fs.renameSync(include, join(folder, 'include'));
  fs.rmSync(fresh, { recursive: true });
}

/** @param setUp what bootstrap.mjs runs its steps with */
export function fetchCutlass({ run, step }) {
  return step({
    name: 'headers of CUTLASS and FlashInfer',
    inputs: [LIST],
    outputs: [
      ...['cutlass/cutlass.h', 'flashinfer/page.cuh'].map((name) => join(folder, 'include', name)),
      ...Object.keys(LICENCES).map((name) => join(folder, 'licences', name)),
    ],
    act: () => fetchHeaders(run),
  });
}
