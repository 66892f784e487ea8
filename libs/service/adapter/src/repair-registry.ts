import { join } from 'node:path';
import { diskError, FILE_SYSTEM } from '@tessera/files';
import {
  type AdapterVersion,
  checkName,
  digestOf,
  filesFound,
  receivedVersion,
} from './domain/adapter-version.js';
import { lockFolder } from './outside/folder-lock.js';
import { isNewer } from './outside/kept-state.js';
import { RegistryFile } from './outside/registry-file.js';
import { hashOf } from './outside/regular-file.js';
import { VersionFolders } from './outside/version-folders.js';

const REMARK = 'found by a repair';

export interface RegistryRepair {
  /** '' where the state can be read: then nothing is done. */
  readonly damage: string;
  /** Digests of the versions whose files are whole. */
  readonly whole: readonly string[];
  /** Versions whose files are not what their name says; they stay where they are. */
  readonly damaged: readonly string[];
}

export interface RegistryRepairWanted {
  readonly folder: string;
  /** That the versions get: whose they were is not known any more. */
  readonly name: string;
  readonly baseModel: string;
  readonly apply: boolean;
}

/**
 * The state of a registry made of the folders of versions, which are hashed: all are `received`.
 * Rejects with STORE_NEWER for that of a newer release, STORE_INVALID where a process has the
 * folder, STORE_FULL or IO_FAILED.
 */
export async function repairRegistry(wanted: RegistryRepairWanted): Promise<RegistryRepair> {
  const { folder, name, baseModel, apply } = wanted;
  checkName(name);
  const unlock = lockFolder(folder, 'adapters.path');
  try {
    const file = new RegistryFile(folder, FILE_SYSTEM);
    const digests = await new VersionFolders(folder, FILE_SYSTEM).digests();
    const damage = await file.read().then(
      (found) => (found === undefined && digests.length > 0 ? 'no state of the registry' : ''),
      (error: Error) => {
        // A newer format is not damage.
        if (isNewer(error)) throw error;
        return error.message;
      },
    );
    if (damage === '') return { damage, whole: [], damaged: [] };
    const versions: AdapterVersion[] = [];
    const damaged: string[] = [];
    for (const digest of digests) {
      const files = await filesOf(join(folder, 'versions', digest));
      if (files === undefined || digestOf(files) !== digest) {
        damaged.push(digest);
        continue;
      }
      const unknown = { pushedBy: '', holder: '', learnedUntilMs: 0 };
      const given = { name, digest, baseModel, files, remark: REMARK, ...unknown };
      versions.push(receivedVersion(given, Date.now()));
    }
    if (apply) await file.write({ versions, leases: [] });
    return { damage, whole: versions.map(({ digest }) => digest), damaged };
  } catch (thrown) {
    throw diskError(thrown, `adapters.path: ${folder}`);
  } finally {
    unlock();
  }
}

async function filesOf(folder: string) {
  try {
    return await filesFound((name) => hashOf(join(folder, name)));
  } catch {
    return undefined;
  }
}
