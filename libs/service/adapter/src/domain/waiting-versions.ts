/**
 * Versions of other base models than the one that is served. A start with another model, on purpose
 * or by a mistake in its path, touches none of them: they are kept as they are, and serve again
 * when their base does.
 */

import { TesseraError } from '@tessera/errors';
import type { AdapterVersion } from './adapter-version.js';
import { isMeant, type RegistryState, versionOf } from './registry-state.js';

const DIGITS_SHOWN = 16;

/** The registry, split into the served base model's versions and those that wait for another. */
export function ofBase(kept: RegistryState, baseModel: string) {
  const waits = ({ baseModel: its, state }: AdapterVersion) =>
    its !== baseModel && state !== 'rejected';
  return {
    state: { ...kept, versions: kept.versions.filter((version) => !waits(version)) },
    waiting: kept.versions.filter(waits),
  };
}

/**
 * The one that waits and is meant; undefined where the served base has one that is meant, or none
 * is.
 * @throws TesseraError ADAPTER_INVALID for digits of several versions
 */
export function waitingOf(
  { versions }: RegistryState,
  waiting: readonly AdapterVersion[],
  name: string,
  digest: string,
): AdapterVersion | undefined {
  const isIt = (version: AdapterVersion) => isMeant(version, name, digest);
  if (versions.some(isIt) || !waiting.some(isIt)) return undefined;
  return versionOf({ versions: waiting }, name, digest);
}

/** Version as shown while it waits: it serves nobody, and says what it waits for. */
export function shownWaiting(version: AdapterVersion): AdapterVersion {
  const base = version.baseModel.slice(0, DIGITS_SHOWN);
  const reason = `waits for base model ${base}, with which it was ${version.state}`;
  return { ...version, state: 'retired', share: 0, reason };
}

/** The answer to a caller who wants to work with one. */
export function waitsForBase(version: AdapterVersion, served: string): TesseraError {
  const base = (digest: string) => digest.slice(0, DIGITS_SHOWN);
  const message =
    `${version.name} ${base(version.digest)}: expected a version of base model ${base(served)}, ` +
    `which is served, got one that waits for ${base(version.baseModel)}`;
  return new TesseraError('ADAPTER_STATE', message, { field: 'digest' });
}
