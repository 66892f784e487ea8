import { TesseraError } from '@tessera/errors';

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/**
 * Faults that trying again does not mend: Redis does not know the caller. CONFIG_INVALID with the
 * field that names the password; undefined for other faults.
 */
export function redisRefusal(field: string, thrown: unknown): TesseraError | undefined {
  const reason = reasonOf(thrown);
  if (!/WRONGPASS|NOAUTH|NOPERM/.test(reason)) return undefined;
  const message = `${field}: expected user and password that Redis knows, got: ${reason}`;
  return new TesseraError('CONFIG_INVALID', message, { field, cause: thrown });
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
