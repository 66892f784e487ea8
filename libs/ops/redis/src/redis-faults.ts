import { TesseraError } from '@tessera/errors';

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

const UNKNOWN_CALLER = /WRONGPASS|NOAUTH/;
/** Refusals of commands, and of those within scripts as Redis and Valkey word them. */
const MAY_NOT = /NOPERM|The user executing the script can't|ACL failure in script/;

/**
 * Faults that trying again does not mend: Redis does not know the caller, or the caller may not do
 * what is asked. CONFIG_INVALID with the field that names the password or the address; undefined
 * for other faults. A caller that Redis has known, and knows no more, waits for the password that
 * is being renewed: STORE_UNAVAILABLE.
 */
export function redisRefusal(
  field: string,
  thrown: unknown,
  { wasKnown }: { readonly wasKnown: boolean },
): TesseraError | undefined {
  const reason = reasonOf(thrown);
  const isUnknown = UNKNOWN_CALLER.test(reason);
  if (!isUnknown && !MAY_NOT.test(reason)) return undefined;
  const expected = isUnknown
    ? 'user and password that Redis knows'
    : 'a user of Redis with the rights in docs/operate/security.md';
  const message = `${field}: expected ${expected}, got: ${reason}`;
  const code = isUnknown && wasKnown ? 'STORE_UNAVAILABLE' : 'CONFIG_INVALID';
  return new TesseraError(code, message, { field, cause: thrown });
}

/** STORE_FULL where its memory is, otherwise STORE_UNAVAILABLE. `place`: `Redis at HOST:PORT`. */
export function redisFault(place: string, thrown: unknown): TesseraError {
  const reason = reasonOf(thrown);
  const code = reason.startsWith('OOM') ? 'STORE_FULL' : 'STORE_UNAVAILABLE';
  return new TesseraError(code, `${place}: ${reason}`, { cause: thrown });
}

/**
 * True if the answer is that of a server that is not, or not yet, the one to ask: after a failover
 * the open connection still leads to the old primary. As it is, or within the text of a script's
 * error.
 */
export function isWrongServer(error: Error): boolean {
  return /(^|[\s-])(READONLY|MASTERDOWN|LOADING|CLUSTERDOWN|MOVED) /.test(error.message);
}
