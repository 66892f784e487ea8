/**
 * The few frames of HTTP/2 (RFC 9113) that a load generator needs, written and read as bytes: a
 * client library costs more of the shared cores for a call than the service does for a refusal.
 */

const FRAME_HEADER_BYTES = 9;

export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
} as const;

export const Flag = { END_STREAM: 1, ACK: 1, END_HEADERS: 4 } as const;

export const Setting = {
  HEADER_TABLE_SIZE: 1,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
} as const;

export const ErrorCode = { REFUSED_STREAM: 7, CANCEL: 8 } as const;

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const SETTING_BYTES = 6;

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  payload.copy(bytes, FRAME_HEADER_BYTES);
  return bytes;
}

function number32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function windowUpdate(stream: number, bytes: number): Buffer {
  return frame(FrameType.WINDOW_UPDATE, 0, stream, number32(bytes));
}

export function resetStream(stream: number, code: number): Buffer {
  return frame(FrameType.RST_STREAM, 0, stream, number32(code));
}

export function acknowledgement(type: number, payload: Buffer): Buffer {
  return frame(type, Flag.ACK, 0, payload);
}

/** Preface and settings of a client whose peer uses no dynamic table for the answers' headers. */
export function greeting(windowBytes: number): Buffer {
  const settings = Buffer.concat(
    [
      [Setting.HEADER_TABLE_SIZE, 0],
      [Setting.INITIAL_WINDOW_SIZE, windowBytes],
    ].map(([id, value]) => {
      const bytes = Buffer.allocUnsafe(SETTING_BYTES);
      bytes.writeUInt16BE(id as number);
      bytes.writeUInt32BE(value as number, 2);
      return bytes;
    }),
  );
  const connection = windowUpdate(0, windowBytes);
  return Buffer.concat([PREFACE, frame(FrameType.SETTINGS, 0, 0, settings), connection]);
}

/** Values of a SETTINGS payload by identifier. */
export function settingsOf(payload: Buffer): Map<number, number> {
  const settings = new Map<number, number>();
  for (let at = 0; at + SETTING_BYTES <= payload.length; at += SETTING_BYTES) {
    settings.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
  }
  return settings;
}

const STREAM_BITS = 0x7fffffff;

/** The last stream that the sender of a GOAWAY has taken. */
export function lastStreamOf(payload: Buffer): number {
  return payload.readUInt32BE(0) & STREAM_BITS;
}

/** HPACK (RFC 7541) literals without indexing and without Huffman codes: they keep no state. */
export function headerBlock(fields: Readonly<Record<string, string>>): Buffer {
  const text = (value: string) => {
    const bytes = Buffer.from(value);
    if (bytes.length > 126)
      throw new Error(`header of ${bytes.length} bytes, expected at most 126`);
    return Buffer.concat([Buffer.of(bytes.length), bytes]);
  };
  return Buffer.concat(
    Object.entries(fields).flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]),
  );
}

/** The header fields of a gRPC call. */
export function callFields(address: string, path: string) {
  return {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': path,
    ':authority': address,
    'content-type': 'application/grpc',
    te: 'trailers',
  } as const;
}

/** `grpc-status` as the Huffman code of RFC 7541 writes it, which every common encoder uses. */
const STATUS_NAME = Buffer.from('9acac8b21234da8f', 'hex');
const STATUS_NAME_PLAIN = Buffer.from('grpc-status');
const DIGIT_ZERO = 0x30;

/** The gRPC status of a header block; undefined where it has none. */
export function statusOf(block: Buffer): number | undefined {
  for (const name of [STATUS_NAME, STATUS_NAME_PLAIN]) {
    const found = block.indexOf(name);
    if (found < 0) continue;
    const at = found + name.length;
    const length = block[at] ?? 0;
    let status = 0;
    // A Huffman code is longer than one or two digits: they stand as they are.
    for (let i = 1; i <= length; i++) status = status * 10 + ((block[at + i] ?? 0) - DIGIT_ZERO);
    return status;
  }
  return undefined;
}

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Cuts what a socket brings into frames. */
export class FrameReader {
  private rest = Buffer.alloc(0);

  /** Calls back for each frame that is complete; its payload is only good during the call. */
  read(chunk: Buffer, onFrame: (frame: Frame) => void): void {
    let bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    while (bytes.length >= FRAME_HEADER_BYTES) {
      const end = FRAME_HEADER_BYTES + bytes.readUIntBE(0, 3);
      if (bytes.length < end) break;
      onFrame({
        type: bytes[3] as number,
        flags: bytes[4] as number,
        stream: bytes.readUInt32BE(5) & STREAM_BITS,
        payload: bytes.subarray(FRAME_HEADER_BYTES, end),
      });
      bytes = bytes.subarray(end);
    }
    this.rest = Buffer.from(bytes);
  }
}
