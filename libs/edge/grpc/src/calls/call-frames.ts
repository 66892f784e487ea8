/** Calls and their ends on the wire (gRPC over HTTP/2, PROTOCOL-HTTP2 of grpc/grpc). */

import { LOAD_TRAILER } from '@tessera/contracts';
import { ERROR_TRAILERS } from '@tessera/errors';
import {
  Flag,
  FRAME_BYTES_MAX,
  FrameType,
  frame,
  literalHeaders,
  MESSAGE_HEADER_BYTES,
} from '../gate/frames.js';
import { eachHeader } from '../gate/hpack.js';
import { STATUS_DETAILS } from '../status-details.js';

/** A message of 2 KiB, percent-encoded, and its details. */
const TRAILER_BYTES_MAX = 16_384;
const TIMEOUT_DIGITS_MAX = 8;
const BLOCKS_KEPT = 256;
const BLOCK_BYTES_KEPT = 256;

/** How a call ended. */
export interface CallEnd {
  /** Status of gRPC; 0: it was answered. Undefined: the trailers name none. */
  readonly status: number | undefined;
  readonly details: string;
  /** Of the service, by their names. */
  readonly trailers: Readonly<Record<string, string>>;
}

const NAMES: ReadonlySet<string> = new Set([
  'grpc-status',
  'grpc-message',
  ...Object.values(ERROR_TRAILERS),
  STATUS_DETAILS,
  LOAD_TRAILER,
]);

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Ends by their blocks: nearly all answers have one of a few. */
const ends = new Map<string, CallEnd>();

export function callEndOf(block: Buffer): CallEnd {
  const key = block.length <= BLOCK_BYTES_KEPT ? block.toString('latin1') : undefined;
  const known = key === undefined ? undefined : ends.get(key);
  if (known !== undefined) return known;
  const fields: Record<string, string> = {};
  const read = (name: string, value: string | undefined) => {
    if (value !== undefined) fields[name] = value;
  };
  eachHeader(block, NAMES, read, TRAILER_BYTES_MAX);
  const { 'grpc-status': status, 'grpc-message': message = '', ...trailers } = fields;
  const number = status === undefined ? Number.NaN : Number(status);
  const end = {
    status: Number.isInteger(number) ? number : undefined,
    details: percentDecoded(message),
    trailers,
  };
  if (key !== undefined) {
    if (ends.size >= BLOCKS_KEPT) ends.clear();
    ends.set(key, end);
  }
  return end;
}

/** Milliseconds as gRPC writes a timeout; never less than what is left. */
export function timeoutText(ms: number): string {
  const microseconds = String(Math.max(1, Math.ceil(ms * 1000)));
  if (microseconds.length <= TIMEOUT_DIGITS_MAX) return `${microseconds}u`;
  const milliseconds = String(Math.ceil(ms));
  if (milliseconds.length <= TIMEOUT_DIGITS_MAX) return `${milliseconds}m`;
  return `${Math.min(10 ** TIMEOUT_DIGITS_MAX - 1, Math.ceil(ms / 1000))}S`;
}

/** Fields of a method's calls that are the same for all of them, as literals. */
export function methodHeaders(path: string, authority: string, scheme: string): Buffer {
  return literalHeaders({
    ':method': 'POST',
    ':scheme': scheme,
    ':path': path,
    ':authority': authority,
    te: 'trailers',
    'content-type': 'application/grpc+proto',
  });
}

/** A call's HEADERS; a block that is longer than a frame goes on in further ones. */
export function callHeaders(
  stream: number,
  method: Buffer,
  fields: Readonly<Record<string, string>>,
): Buffer {
  const block = Buffer.concat([method, literalHeaders(fields)]);
  if (block.length <= FRAME_BYTES_MAX) {
    return frame(FrameType.HEADERS, Flag.END_HEADERS, stream, block);
  }
  const frames: Buffer[] = [];
  for (let at = 0; at < block.length; at += FRAME_BYTES_MAX) {
    const part = block.subarray(at, at + FRAME_BYTES_MAX);
    const isLast = at + FRAME_BYTES_MAX >= block.length;
    const type = at === 0 ? FrameType.HEADERS : FrameType.CONTINUATION;
    frames.push(frame(type, isLast ? Flag.END_HEADERS : 0, stream, part));
  }
  return Buffer.concat(frames);
}

/** The one message of an answer; undefined: there is none, or it is compressed or cut off. */
export function messageOf(parts: readonly Buffer[]): Buffer | undefined {
  const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  if (bytes.length < MESSAGE_HEADER_BYTES || bytes[0] !== 0) return undefined;
  if (bytes.readUInt32BE(1) !== bytes.length - MESSAGE_HEADER_BYTES) return undefined;
  return bytes.subarray(MESSAGE_HEADER_BYTES);
}
