/**
 * Finds and loads the addon once per process, and checks that it speaks this ABI before anything
 * else is called.
 */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NativeAddon } from './abi.js';
import { ABI_DIGEST } from './generated/types.js';

const ADDON_PATH = join('build', 'native', 'tessera.node');

const PACKAGE = `@tessera/engine-${process.platform}-${process.arch}`;

/** Path of a prebuilt addon in an installed package for this platform, first in one for cards. */
function findPackaged(): string | undefined {
  for (const name of [`${PACKAGE}-cuda`, PACKAGE]) {
    try {
      return createRequire(import.meta.url).resolve(name);
    } catch {
      // not installed
    }
  }
  return undefined;
}

/**
 * The build folder stands in the repository's root, some levels above this file (sources and
 * compiled output alike); without one there may be a package.
 */
function findAddon(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const candidate = join(folder, ADDON_PATH);
    if (existsSync(candidate)) return candidate;
    const parent = dirname(folder);
    if (parent === folder) {
      const packaged = findPackaged();
      if (packaged !== undefined) return packaged;
      throw new Error(
        `the native engine is not there: no ${ADDON_PATH} above this file, and no package ` +
          `${PACKAGE}; run \`npm run bootstrap\``,
      );
    }
    folder = parent;
  }
}

export function loadAddon(): NativeAddon {
  const path = findAddon();
  const addon = createRequire(import.meta.url)(path) as NativeAddon;
  const { digest } = addon.describeAbi();
  if (digest !== ABI_DIGEST) {
    throw new Error(
      `${path} was built from native/abi ${digest}, expected ${ABI_DIGEST}: ` +
        'build it again with `npm run bootstrap`',
    );
  }
  return addon;
}
