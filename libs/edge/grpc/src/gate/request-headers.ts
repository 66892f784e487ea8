import { eachHeader } from './hpack.js';

const UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** The fields that are read of a request's headers. */
export interface RequestHeaders {
  readonly path: string | undefined;
  /** Milliseconds; Infinity where there is no deadline. */
  readonly timeoutMs: number;
  /** All that were asked for and are there once, by their names. */
  readonly fields: Readonly<Record<string, string>>;
  /** A value could not be read, or stands there twice. */
  readonly isPartial: boolean;
}

/** A value that is none counts as no deadline here: whoever serves the call refuses it. */
function timeoutOf(value: string | undefined): number {
  const match = /^(\d{1,8})([HMSmun])$/.exec(value ?? '');
  if (match === null) return Number.POSITIVE_INFINITY;
  return Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.POSITIVE_INFINITY);
}

const READ: ReadonlySet<string> = new Set([
  ...[':path', 'content-type', 'grpc-timeout', 'grpc-encoding'],
  ...['authorization', 'traceparent', 'tracestate'],
]);

/**
 * The fields that admission needs of a block of request headers. Undefined where the block does not
 * stand alone, or is none.
 */
export function requestHeaders(block: Buffer): RequestHeaders | undefined {
  const fields: Record<string, string> = {};
  let isPartial = false;
  const standsAlone = eachHeader(block, READ, (name, value) => {
    if (value === undefined || fields[name] !== undefined) isPartial = true;
    else fields[name] = value;
  });
  if (!standsAlone) return undefined;
  const timeoutMs = timeoutOf(fields['grpc-timeout']);
  return { path: fields[':path'], timeoutMs, fields, isPartial };
}
