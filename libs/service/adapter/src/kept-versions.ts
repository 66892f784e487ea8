import { TesseraError } from '@tessera/errors';
import type { AdapterVersion } from './domain/adapter-version.js';
import { pin, remove, unpin, versionOf } from './domain/registry-state.js';
import type { AdapterRegistry } from './registry.js';

/** Resolves when it is loaded, or need not be any more. Rejects with ADAPTER_STATE and so on. */
export async function pinVersion(
  registry: AdapterRegistry,
  name: string,
  digest: string,
  isPinned: boolean,
): Promise<AdapterVersion> {
  if (!isPinned) {
    await registry.change((state) => unpin(state, versionOf(state, name, digest)));
    return registry.find(name, digest);
  }
  const version = registry.find(name, digest);
  pin(registry.state, version);
  const held = await registry.loaded.load(version);
  try {
    await registry.change((state) => pin(state, versionOf(state, name, version.digest)));
  } finally {
    held.release();
  }
  return registry.find(name, version.digest);
}

/** Rejects with ADAPTER_STATE where it serves, is pinned or is being worked with. */
export async function deleteVersion(
  registry: AdapterRegistry,
  name: string,
  digest: string,
): Promise<void> {
  const waiting = registry.findWaiting(name, digest);
  if (waiting !== undefined) return registry.removeWaiting(waiting);
  await registry.change((state) => {
    const version = versionOf(state, name, digest);
    if (!registry.loaded.isBusy(version.digest)) return remove(state, version);
    const message = 'digest: expected a version that nobody works with, got one in use';
    throw new TesseraError('ADAPTER_STATE', message, { field: 'digest' });
  });
}
