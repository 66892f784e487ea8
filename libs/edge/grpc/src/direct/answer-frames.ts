import type { StatusObject } from '@grpc/grpc-js';
import { LOAD_TRAILER } from '@tessera/contracts';
import {
  dataFrames,
  Flag,
  FRAME_BYTES_MAX,
  FRAME_HEADER_BYTES,
  FrameType,
  frame,
  framedMessage,
  literalHeaders,
  MESSAGE_HEADER_BYTES,
} from '../gate/frames.js';

/** As grpc-js begins and ends an answer. */
const BEGIN = literalHeaders({
  ':status': '200',
  'content-type': 'application/grpc+proto',
  'grpc-accept-encoding': 'identity,deflate,gzip',
  'grpc-encoding': 'identity',
});
/** How an answer ends, by load class; the first: of a process that says none. */
const ENDS: Buffer[] = [];

/** `loadClass`: of the process; undefined: it says none. */
export function endOfAnswer(loadClass: number | undefined): Buffer {
  const at = loadClass === undefined ? 0 : loadClass + 1;
  const known = ENDS[at];
  if (known !== undefined) return known;
  const load = loadClass === undefined ? {} : { [LOAD_TRAILER]: String(loadClass) };
  const end = literalHeaders({ 'grpc-status': '0', 'grpc-message': 'OK', ...load });
  ENDS[at] = end;
  return end;
}

const ENDING = Flag.END_HEADERS | Flag.END_STREAM;

function writeHead(bytes: Buffer, at: number, length: number, type: number, flags: number): number {
  bytes.writeUIntBE(length, at, 3);
  bytes[at + 3] = type;
  bytes[at + 4] = flags;
  return at + FRAME_HEADER_BYTES;
}

/** The whole answer of a call in one piece: headers, message, trailers. */
export function answerFrames(stream: number, message: Uint8Array, end: Buffer): Buffer {
  const dataBytes = MESSAGE_HEADER_BYTES + message.length;
  if (dataBytes > FRAME_BYTES_MAX) {
    const { begin, data } = answerInParts(stream, message);
    return Buffer.concat([begin, dataFrames(stream, data), answerEnd(stream, end)]);
  }
  const size = 3 * FRAME_HEADER_BYTES + BEGIN.length + dataBytes + end.length;
  const bytes = Buffer.allocUnsafe(size);
  let at = writeHead(bytes, 0, BEGIN.length, FrameType.HEADERS, Flag.END_HEADERS);
  bytes.writeUInt32BE(stream, at - 4);
  at += BEGIN.copy(bytes, at);
  at = writeHead(bytes, at, dataBytes, FrameType.DATA, 0);
  bytes.writeUInt32BE(stream, at - 4);
  bytes[at] = 0;
  bytes.writeUInt32BE(message.length, at + 1);
  at += MESSAGE_HEADER_BYTES;
  bytes.set(message, at);
  at = writeHead(bytes, at + message.length, end.length, FrameType.HEADERS, ENDING);
  bytes.writeUInt32BE(stream, at - 4);
  end.copy(bytes, at);
  return bytes;
}

/** The frame before the message, and what is to go into frames as the windows allow. */
export function answerInParts(stream: number, message: Uint8Array) {
  const begin = frame(FrameType.HEADERS, Flag.END_HEADERS, stream, BEGIN);
  return { begin, data: framedMessage(message) };
}

export const answerEnd = (stream: number, end: Buffer) =>
  frame(FrameType.HEADERS, ENDING, stream, end);

/** Ends a call with a status that is no answer; `isFirst`: no headers went before. */
export function endFrames(
  stream: number,
  { code, details, metadata }: Pick<StatusObject, 'code' | 'details'> & Partial<StatusObject>,
  isFirst: boolean,
): Buffer {
  const fields: Record<string, string> = isFirst
    ? { ':status': '200', 'content-type': 'application/grpc+proto' }
    : {};
  fields['grpc-status'] = String(code);
  fields['grpc-message'] = encodeURI(details);
  for (const [name, value] of Object.entries(metadata?.getMap() ?? {})) {
    fields[name] = typeof value === 'string' ? value : value.toString('base64');
  }
  return frame(FrameType.HEADERS, ENDING, stream, literalHeaders(fields));
}
