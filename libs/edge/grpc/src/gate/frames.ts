/** HTTP/2 frames (RFC 9113, section 4 and 6), as far as a gate has to know them. */

export const FRAME_HEADER_BYTES = 9;
/** Payload of a frame while no SETTINGS_MAX_FRAME_SIZE allows more. */
export const FRAME_BYTES_MAX = 16_384;
/** A window is credited in steps of at least this. */
export const CREDIT_BYTES_MIN = 16_384;
/** gRPC's frame of a message: a flag of compression and a length. */
export const MESSAGE_HEADER_BYTES = 5;
/** The client's preface, before its first frame. */
export const PREFACE_BYTES = 24;

export const FrameType = {
  DATA: 0x0,
  HEADERS: 0x1,
  RST_STREAM: 0x3,
  SETTINGS: 0x4,
  PING: 0x6,
  GOAWAY: 0x7,
  WINDOW_UPDATE: 0x8,
  CONTINUATION: 0x9,
} as const;

export const Flag = {
  END_STREAM: 0x1,
  ACK: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
} as const;

const HEADER_TABLE_SIZE = 0x1;
const ENABLE_PUSH = 0x2;
const MAX_CONCURRENT_STREAMS = 0x3;
const INITIAL_WINDOW_SIZE = 0x4;
const SETTING_BYTES = 6;
const PRIORITY_BYTES = 5;

export interface FrameHead {
  /** Of the payload. */
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
}

/** REQUIRES: FRAME_HEADER_BYTES from `at` on. */
export function frameHead(bytes: Buffer, at: number): FrameHead {
  return {
    length: bytes.readUIntBE(at, 3),
    type: bytes[at + 3] as number,
    flags: bytes[at + 4] as number,
    stream: bytes.readUInt32BE(at + 5) & 0x7fff_ffff,
  };
}

/** HTTP/2 error codes (RFC 9113, section 7). */
export const ErrorCode = {
  NO_ERROR: 0x0,
  STREAM_CLOSED: 0x5,
  REFUSED_STREAM: 0x7,
  CANCEL: 0x8,
} as const;

export function resetStream(stream: number, code: number): Buffer {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(code);
  return frame(FrameType.RST_STREAM, 0, stream, payload);
}

/** A setting of a SETTINGS payload, the last that is there; undefined where none is. */
function settingOf(payload: Buffer, wanted: number): number | undefined {
  let found: number | undefined;
  for (let at = 0; at + SETTING_BYTES <= payload.length; at += SETTING_BYTES) {
    if (payload.readUInt16BE(at) === wanted) found = payload.readUInt32BE(at + 2);
  }
  return found;
}

export const initialWindowOf = (payload: Buffer) => settingOf(payload, INITIAL_WINDOW_SIZE);
/** Calls at once that the peer takes. */
export const streamsMaxOf = (payload: Buffer) => settingOf(payload, MAX_CONCURRENT_STREAMS);

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  payload.copy(bytes, FRAME_HEADER_BYTES);
  return bytes;
}

export function windowUpdate(stream: number, bytes: number): Buffer {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(bytes);
  return frame(FrameType.WINDOW_UPDATE, 0, stream, payload);
}

function settings(all: readonly (readonly [setting: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(SETTING_BYTES * all.length);
  for (const [at, [setting, value]] of all.entries()) {
    payload.writeUInt16BE(setting, SETTING_BYTES * at);
    payload.writeUInt32BE(value, SETTING_BYTES * at + 2);
  }
  return frame(FrameType.SETTINGS, 0, 0, payload);
}

/** Asks the peer to write header blocks that stand alone. */
export const noHeaderTable = (): Buffer => settings([[HEADER_TABLE_SIZE, 0]]);

/** A caller's first frame: blocks that stand alone, nothing pushed, a window for each answer. */
export function callerSettings(windowBytes: number): Buffer {
  return settings([
    [HEADER_TABLE_SIZE, 0],
    [ENABLE_PUSH, 0],
    [INITIAL_WINDOW_SIZE, windowBytes],
  ]);
}

/** The part of a HEADERS or DATA payload without padding and priority; undefined: malformed. */
export function contentOf({ type, flags }: FrameHead, payload: Buffer): Buffer | undefined {
  const isPadded = (flags & Flag.PADDED) !== 0;
  const hasPriority = type === FrameType.HEADERS && (flags & Flag.PRIORITY) !== 0;
  const begin = (isPadded ? 1 : 0) + (hasPriority ? PRIORITY_BYTES : 0);
  const end = payload.length - (isPadded ? (payload[0] ?? 0) : 0);
  return begin <= end ? payload.subarray(begin, end) : undefined;
}

/** An integer behind a byte's highest bit, which is 0 (RFC 7541, 5.1 with a prefix of 7 bits). */
function length7(value: number): number[] {
  if (value < 127) return [value];
  const bytes = [127];
  let left = value - 127;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return [...bytes, left];
}

/** HPACK literals without indexing and without codes; ASCII. */
export function literalHeaders(fields: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(fields)) {
    for (const [lead, text] of [[[0], name] as const, [[], value] as const]) {
      parts.push(Buffer.from([...lead, ...length7(text.length)]), Buffer.from(text, 'latin1'));
    }
  }
  return Buffer.concat(parts);
}

/** A message behind its length, uncompressed. */
export function framedMessage(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(MESSAGE_HEADER_BYTES + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, MESSAGE_HEADER_BYTES);
  return bytes;
}

/** DATA frames of the bytes; the last has the flags. */
export function dataFrames(stream: number, bytes: Buffer, flags = 0): Buffer {
  if (bytes.length <= FRAME_BYTES_MAX) return frame(FrameType.DATA, flags, stream, bytes);
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += FRAME_BYTES_MAX) {
    const part = bytes.subarray(at, at + FRAME_BYTES_MAX);
    const isLast = at + FRAME_BYTES_MAX >= bytes.length;
    frames.push(frame(FrameType.DATA, isLast ? flags : 0, stream, part));
  }
  return Buffer.concat(frames);
}
