/**
 * Leases of names. A trainer that pushes versions of a name by itself, the holder, keeps other
 * holders from the name for some seconds behind each push; a caller who is no holder is a person,
 * whom no lease keeps out.
 */

import { TesseraError } from '@tessera/errors';
import { checkName, invalid } from './adapter-version.js';

const LEASE_SECONDS_MAX = 3600;
const SECOND_MS = 1000;
/** Time that a lease is kept after its end, so that it shows which names a trainer follows. */
const KEPT_MS = 24 * 60 * 60 * SECOND_MS;

/** Lease as a push asks for it. */
export interface WantedLease {
  readonly holder: string;
  readonly seconds: number;
}

/** The newest of a name. */
export interface NameLease extends WantedLease {
  readonly name: string;
  /** Digest of the version with whose push it was taken. */
  readonly digest: string;
  /** Milliseconds since 1970. */
  readonly takenMs: number;
}

interface Leases {
  readonly leases: readonly NameLease[];
}

/**
 * Undefined: a person pushes.
 * @throws TesseraError ADAPTER_INVALID
 */
export function wantedLease(holder: string, seconds: number): WantedLease | undefined {
  const [least, most] = holder === '' ? [0, 0] : [1, LEASE_SECONDS_MAX];
  if (!Number.isInteger(seconds) || seconds < least || seconds > most) {
    const whose = holder === '' ? '0 without a holder' : `${least}..${most} of a holder`;
    throw invalid('leaseSeconds', whose, seconds);
  }
  if (holder === '') return undefined;
  checkName(holder, 'holder');
  return { holder, seconds };
}

/** A clock that was set back by more than a lease ends it: none keeps others out for longer. */
const isHeld = ({ takenMs, seconds }: NameLease, nowMs: number) =>
  Math.abs(nowMs - takenMs) < seconds * SECOND_MS;

const endMs = ({ takenMs, seconds }: NameLease) => takenMs + seconds * SECOND_MS;

const isKept = (lease: NameLease, nowMs: number) => Math.abs(nowMs - endMs(lease)) < KEPT_MS;

/**
 * @param holder '' for a person
 * @throws TesseraError PUSH_CONFLICT, field `holder`: another holder has the name
 */
export function checkHolder({ leases }: Leases, name: string, holder: string, nowMs: number): void {
  const lease = leases.find((one) => one.name === name);
  if (holder === '' || lease === undefined || lease.holder === holder) return;
  if (!isHeld(lease, nowMs)) return;
  const seconds = Math.ceil((endMs(lease) - nowMs) / SECOND_MS);
  const message =
    `holder: expected '${lease.holder}', which has the lease of '${name}' for ${seconds} s more, ` +
    `got '${holder}'`;
  throw new TesseraError('PUSH_CONFLICT', message, { field: 'holder' });
}

/**
 * Makes a lease the newest of its name; also renews one.
 * @throws TesseraError PUSH_CONFLICT
 */
export function takeLease<State extends Leases>(state: State, lease: NameLease): State {
  checkHolder(state, lease.name, lease.holder, lease.takenMs);
  const others = state.leases.filter(
    (other) => other.name !== lease.name && isKept(other, lease.takenMs),
  );
  return { ...state, leases: [...others, lease] };
}

/** End of the lease that was taken with the version; 0: none was, or a newer push took it over. */
export function leaseEndMs(
  { leases }: Leases,
  version: { readonly name: string; readonly digest: string },
): number {
  const lease = leases.find(
    ({ name, digest }) => name === version.name && digest === version.digest,
  );
  return lease === undefined ? 0 : endMs(lease);
}

/** Ends of the newest leases of all names, but for those that have ended a day ago. */
export function leaseEnds({ leases }: Leases, nowMs: number) {
  return leases
    .filter((lease) => isKept(lease, nowMs))
    .map((lease) => ({ name: lease.name, untilMs: endMs(lease) }));
}
