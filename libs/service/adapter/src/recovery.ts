import { TesseraError } from '@tessera/errors';
import type { AdapterVersion } from './domain/adapter-version.js';
import {
  inState,
  type RegistryState,
  reject,
  rollBack,
  staysLoaded,
} from './domain/registry-state.js';
import type { Held, LoadedAdapters } from './loaded-adapters.js';

/** A version that served when the process ended, and cannot any more. */
interface Lost {
  readonly version: AdapterVersion;
  readonly error: TesseraError;
}

export interface Recovered {
  readonly state: RegistryState;
  readonly lost: readonly Lost[];
  readonly held: readonly Held[];
}

interface Recovery {
  readonly loaded: LoadedAdapters;
  readonly nowMs: number;
}

/** Errors that give a version up; others end the start. */
const HOPELESS: ReadonlySet<string> = new Set([
  'ADAPTER_INVALID',
  'ADAPTER_CORRUPT',
  'ADAPTER_NOT_FOUND',
]);

/**
 * The state that a start goes on with: what is to stay loaded is loaded, and held until the state
 * is kept. Each version of which that fails is rejected, and what was before it serves.
 */
export async function recovered(
  kept: RegistryState,
  { loaded, nowMs }: Recovery,
): Promise<Recovered> {
  const lost: Lost[] = [];
  const held: Held[] = [];
  const seen = new Set<AdapterVersion>();
  let state = kept;
  for (;;) {
    const version = state.versions.find((one) => staysLoaded(state, one) && !seen.has(one));
    if (version === undefined) return { state, lost, held };
    seen.add(version);
    try {
      held.push(await loaded.load(version));
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      const canWait = version.state === 'retired' && !version.isPinned;
      if (error.code === 'ADAPTER_ARENA_FULL' && canWait) continue;
      if (!HOPELESS.has(error.code)) throw error;
      lost.push({ version, error });
      state = without(state, version, error.message, nowMs);
    }
  }
}

function without(
  state: RegistryState,
  version: AdapterVersion,
  reason: string,
  nowMs: number,
): RegistryState {
  const { name, digest } = version;
  const active = inState(state, name, 'active');
  const isActive = active?.digest === digest;
  // A canary would be ended in its stead: it is of another version, and goes on.
  const cleared =
    isActive && inState(state, name, 'canary') === undefined
      ? rollBack(state, name, reason, nowMs).state
      : state;
  const now = cleared.versions.find((one) => one.name === name && one.digest === digest);
  return reject(cleared, now ?? version, reason, nowMs);
}
