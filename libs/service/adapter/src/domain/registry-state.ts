/**
 * The state of the registry, and each change of it as a function from one state to the next.
 * Nothing here reads or writes: who calls keeps the new state before anybody sees it.
 */

import { TesseraError } from '@tessera/errors';
import {
  type AdapterFacts,
  type AdapterState,
  type AdapterVersion,
  DIGEST_DIGITS_MIN,
  fileBytes,
} from './adapter-version.js';
import type { NameLease } from './name-lease.js';

export interface RegistryState {
  readonly versions: readonly AdapterVersion[];
  /** Leases, one for each name at most. */
  readonly leases: readonly NameLease[];
}

export const EMPTY_STATE: RegistryState = { versions: [], leases: [] };

/** Rejected and retired versions without files that are still listed; the oldest go. */
const RECORDS_MAX = 1000;

/** A change of service; undefined stands for the base model. */
export interface Replaced {
  readonly state: RegistryState;
  readonly serves: AdapterVersion | undefined;
  /** Replaced version as it is in `state`. */
  readonly replaced: AdapterVersion | undefined;
}

function wrongState({ name, digest, state }: AdapterVersion, expected: string): TesseraError {
  const message = `${name} ${digest.slice(0, 16)}: expected ${expected}, got one that is ${state}`;
  return new TesseraError('ADAPTER_STATE', message, { field: 'digest' });
}

/** The version as the state has it. */
function inThat({ versions }: RegistryState, version: AdapterVersion): AdapterVersion {
  return versions.find((other) => isSame(other, version)) ?? version;
}

const isSame = (a: AdapterVersion, b: AdapterVersion) => a.name === b.name && a.digest === b.digest;

/** True if a caller means this version by a digest, or by the first digits of one. */
export const isMeant = (version: AdapterVersion, name: string, digest: string) =>
  version.name === name &&
  (version.digest === digest ||
    (digest.length >= DIGEST_DIGITS_MIN && version.digest.startsWith(digest)));

/** @throws TesseraError ADAPTER_NOT_FOUND; ADAPTER_INVALID for digits of several versions */
export function versionOf(
  { versions }: Pick<RegistryState, 'versions'>,
  name: string,
  digest: string,
) {
  const found = versions.filter((version) => isMeant(version, name, digest));
  if (found.length > 1) {
    const message = `digest: expected more digits, got '${digest}' of ${found.length} versions`;
    throw new TesseraError('ADAPTER_INVALID', message, { field: 'digest' });
  }
  const [version] = found;
  if (version !== undefined) return version;
  const message = `digest: ${name} has no version '${digest.slice(0, 80)}'`;
  throw new TesseraError('ADAPTER_NOT_FOUND', message, { field: 'digest' });
}

export function inState(state: RegistryState, name: string, wanted: AdapterState) {
  return state.versions.find((version) => version.name === name && version.state === wanted);
}

/** The version that a rollback of the name activates; undefined: the base model. */
export function predecessorOf({ versions }: RegistryState, name: string) {
  const served = versions.filter(
    (version) => version.name === name && version.state === 'retired' && version.activation > 0,
  );
  return served.reduce<AdapterVersion | undefined>(
    (newest, version) => ((newest?.activation ?? 0) > version.activation ? newest : version),
    undefined,
  );
}

/** A version whose files are to stay loaded. */
export function staysLoaded(state: RegistryState, version: AdapterVersion): boolean {
  if (version.state === 'active' || version.state === 'canary') return true;
  if (version.state === 'rejected' || version.state === 'received') return false;
  const predecessor = predecessorOf(state, version.name);
  return version.isPinned || (predecessor !== undefined && isSame(version, predecessor));
}

function replace(state: RegistryState, next: AdapterVersion): RegistryState {
  const versions = state.versions.map((version) => (isSame(version, next) ? next : version));
  return { ...state, versions };
}

function retire(
  state: RegistryState,
  version: AdapterVersion,
  nowMs: number,
  change: Partial<AdapterVersion> = {},
): RegistryState {
  return replace(state, { ...version, state: 'retired', share: 0, changedMs: nowMs, ...change });
}

/** A version that was pushed; one that was rejected before has another chance. */
export function receive(state: RegistryState, version: AdapterVersion): RegistryState {
  const others = state.versions.filter((other) => !isSame(other, version));
  return { ...state, versions: [...others, version] };
}

export function validate(
  state: RegistryState,
  version: AdapterVersion,
  facts: AdapterFacts,
  nowMs: number,
): RegistryState {
  return replace(state, { ...version, state: 'validated', facts, changedMs: nowMs });
}

export function reject(
  state: RegistryState,
  version: AdapterVersion,
  reason: string,
  nowMs: number,
): RegistryState {
  const rejected = {
    state: 'rejected',
    reason,
    share: 0,
    isPinned: false,
    changedMs: nowMs,
  } as const;
  return replace(state, { ...version, ...rejected });
}

/**
 * A canary for a share of the users in (0, 1); one that was there of the name is retired.
 * @throws TesseraError ADAPTER_STATE
 */
export function startCanary(
  state: RegistryState,
  version: AdapterVersion,
  share: number,
  nowMs: number,
): RegistryState {
  if (!['validated', 'retired', 'canary'].includes(version.state)) {
    throw wrongState(version, 'a version that is validated, retired or a canary');
  }
  const earlier = inState(state, version.name, 'canary');
  const isOther = earlier !== undefined && !isSame(earlier, version);
  const cleared = isOther ? retire(state, earlier, nowMs, { reason: 'overtaken' }) : state;
  const canary = { state: 'canary', share, reason: '', changedMs: nowMs } as const;
  return replace(cleared, { ...version, ...canary });
}

/**
 * The version for all users. A rollback returns to the version that was active before.
 * @throws TesseraError ADAPTER_STATE
 */
export function activate(state: RegistryState, version: AdapterVersion, nowMs: number): Replaced {
  if (version.state === 'active') return { state, serves: version, replaced: version };
  if (version.state === 'received' || version.state === 'rejected') {
    throw wrongState(version, 'a version that is validated, retired or a canary');
  }
  const before = inState(state, version.name, 'active');
  const canary = inState(state, version.name, 'canary');
  let next = before === undefined ? state : retire(state, before, nowMs);
  if (canary !== undefined && !isSame(canary, version)) {
    next = retire(next, canary, nowMs, { reason: 'overtaken' });
  }
  const ofName = state.versions.filter(({ name }) => name === version.name);
  const activation = 1 + Math.max(0, ...ofName.map((other) => other.activation));
  const active = { state: 'active', share: 0, reason: '', changedMs: nowMs, activation } as const;
  const serves = { ...version, ...active };
  return { state: replace(next, serves), serves, replaced: before && inThat(next, before) };
}

/**
 * Ends the canary of the name or, without one, brings back what was active before.
 * @throws TesseraError ADAPTER_STATE where nothing of the name serves
 */
export function rollBack(
  state: RegistryState,
  name: string,
  reason: string,
  nowMs: number,
): Replaced {
  const active = inState(state, name, 'active');
  const canary = inState(state, name, 'canary');
  if (canary !== undefined) {
    const next = retire(state, canary, nowMs, { reason });
    return { state: next, serves: active, replaced: inThat(next, canary) };
  }
  if (active === undefined) {
    const message = `name: expected one that serves, got '${name}', for which the base model does`;
    throw new TesseraError('ADAPTER_STATE', message, { field: 'name' });
  }
  const back = predecessorOf(state, name);
  const without = retire(state, active, nowMs, { reason, activation: 0 });
  const replaced = inThat(without, active);
  if (back === undefined) return { state: without, serves: undefined, replaced };
  const serves = { ...back, state: 'active', reason: '', changedMs: nowMs } as const;
  return { state: replace(without, serves), serves, replaced };
}

/** Takes all versions out of service that serve, are pinned or are gone back to by a rollback. */
export function endAll(state: RegistryState, reason: string, nowMs: number) {
  const ended = state.versions.filter(
    ({ state: its, isPinned, activation }) =>
      its === 'active' || its === 'canary' || isPinned || activation > 0,
  );
  const end = { isPinned: false, activation: 0, reason };
  const next = ended.reduce((all, version) => retire(all, version, nowMs, end), state);
  return { state: next, ended };
}

/** The versions that ended are what they were before. */
export function restore(state: RegistryState, ended: readonly AdapterVersion[]): RegistryState {
  return ended.reduce(replace, state);
}

/** @throws TesseraError ADAPTER_STATE for one that was never valid */
export function pin(state: RegistryState, version: AdapterVersion): RegistryState {
  if (version.state === 'received' || version.state === 'rejected') {
    throw wrongState(version, 'a version that is valid');
  }
  return replace(state, { ...version, isPinned: true });
}

export function unpin(state: RegistryState, version: AdapterVersion): RegistryState {
  return replace(state, { ...version, isPinned: false });
}

/** @throws TesseraError ADAPTER_STATE for one that serves or is pinned */
export function remove(state: RegistryState, version: AdapterVersion): RegistryState {
  if (version.state === 'active' || version.state === 'canary') {
    throw wrongState(version, 'a version that serves nobody');
  }
  if (version.isPinned) throw wrongState(version, 'a version that is not pinned');
  return { ...state, versions: state.versions.filter((other) => !isSame(other, version)) };
}

/**
 * Versions that may leave the disk, in the order in which they do: of those that have served the
 * longest retired first, then those that never did and that a newer one has overtaken. Never what
 * serves, what a rollback goes back to, what is pinned, nor the newest of a name.
 */
export function leavingOrder(state: RegistryState): readonly AdapterVersion[] {
  const { versions } = state;
  const byAge = (a: AdapterVersion, b: AdapterVersion) => a.changedMs - b.changedMs;
  const free = versions.filter(
    (version) => version.state !== 'rejected' && !version.isPinned && !staysLoaded(state, version),
  );
  const retired = free.filter((version) => version.state === 'retired').sort(byAge);
  const overtaken = free.filter(
    (version) =>
      (version.state === 'validated' || version.state === 'received') &&
      versions.some(
        (other) =>
          other.name === version.name &&
          other.state !== 'rejected' &&
          other.receivedMs > version.receivedMs,
      ),
  );
  return [...retired, ...overtaken.sort(byAge)];
}

/** Without the oldest records that have no files, where there are too many. */
export function bounded(state: RegistryState): RegistryState {
  const idle = state.versions.filter(({ state: its }) => its === 'rejected');
  const surplus = idle.length - RECORDS_MAX;
  if (surplus <= 0) return state;
  const gone = new Set([...idle].sort((a, b) => a.changedMs - b.changedMs).slice(0, surplus));
  return { ...state, versions: state.versions.filter((version) => !gone.has(version)) };
}

/** Bytes of the folders of all versions: names that have the same content share one. */
export function diskBytes({ versions }: RegistryState): number {
  const folders = new Map(
    versions
      .filter(({ state }) => state !== 'rejected')
      .map(({ digest, files }) => [digest, fileBytes(files)]),
  );
  return [...folders.values()].reduce((sum, bytes) => sum + bytes, 0);
}
