import { isErrorCode, TesseraError } from '@tessera/errors';

/** Pattern of messages about a request or a change: they begin with the path of the member. */
const MEMBER = /^((?:eligibility|itemPolicy|valuations?[.[]|changes\[)[^:]*):/;
/** The path of a field before what was expected; files before it are no part of it. */
const FIELD = /(?:^|: |\/)([^\s:/]+): expected /;

/** An error of the addon as a TesseraError: its `code` is the table's. */
export function fromNative(thrown: unknown): TesseraError {
  if (thrown instanceof TesseraError) return thrown;
  if (thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string') {
    const code = thrown.code;
    const { message } = thrown;
    const field = (MEMBER.exec(message) ?? FIELD.exec(message))?.[1];
    if (isErrorCode(code)) return new TesseraError(code, message, { field, cause: thrown });
  }
  return TesseraError.from(thrown);
}

/** Calls the addon, translating what it throws. */
export function callNative<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw fromNative(thrown);
  }
}

/** Awaits the addon, translating what it rejects with. */
export async function awaitNative<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    throw fromNative(thrown);
  }
}
