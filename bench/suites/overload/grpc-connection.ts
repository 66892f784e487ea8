import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  acknowledgement,
  callFields,
  ErrorCode,
  Flag,
  type Frame,
  FrameReader,
  FrameType,
  frame,
  greeting,
  headerBlock,
  resetStream,
  Setting,
  settingsOf,
  statusOf,
  windowUpdate,
} from './http2-frames.js';

/** How a call ended: its gRPC status, or that the connection or the server's transport ended it. */
export type CallEnd =
  | { readonly status: number; readonly answer?: Buffer | undefined }
  | { readonly reset: number }
  | { readonly lost: true };

export const CANCELLED_BY_CALLER = 1;

const WINDOW_BYTES = 2 ** 30;
const FIRST_WINDOW_BYTES = 65_535;
const MESSAGE_HEADER_BYTES = 5;

interface OpenCall {
  readonly onEnd: (end: CallEnd) => void;
  /** DATA so far, where answers are kept. */
  readonly parts: Buffer[] | undefined;
}

export interface ConnectionOptions {
  /** Beside those that every call has. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly keepsAnswers?: boolean;
}

/** Unary calls of one method over one HTTP/2 connection, without TLS. */
export class GrpcConnection {
  private readonly reader = new FrameReader();
  private readonly calls = new Map<number, OpenCall>();
  private nextStream = 1;
  private out: Buffer[] = [];
  private sendWindow = FIRST_WINDOW_BYTES;
  private taken = 0;
  private isOpen = true;
  streamsMax = Number.POSITIVE_INFINITY;

  private constructor(
    private readonly socket: Socket,
    private readonly fields: Readonly<Record<string, string>>,
    private readonly keepsAnswers: boolean,
  ) {
    socket.on('data', (chunk: Buffer) => {
      this.reader.read(chunk, (one) => this.take(one));
      this.flush();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isOpen = false;
      for (const { onEnd } of this.calls.values()) onEnd({ lost: true });
      this.calls.clear();
    });
  }

  static async open(
    address: string,
    path: string,
    { headers = {}, keepsAnswers = false }: ConnectionOptions = {},
  ): Promise<GrpcConnection> {
    const [host, port] = address.split(':') as [string, string];
    const socket = connect({ host, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    const fields = { ...callFields(address, path), ...headers };
    const connection = new GrpcConnection(socket, fields, keepsAnswers);
    socket.write(greeting(WINDOW_BYTES));
    return connection;
  }

  get inFlight(): number {
    return this.calls.size;
  }

  /** True if a call may begin now: as many as the server allows, within its window. */
  hasRoom(message: Buffer): boolean {
    const isBelowLimit = this.calls.size < this.streamsMax;
    return this.isOpen && isBelowLimit && this.sendWindow >= message.length + MESSAGE_HEADER_BYTES;
  }

  /**
   * Begins a call. flush() sends it, as does the end of what the socket brings at a time. The
   * returned function cancels it as a client does whose deadline has passed.
   */
  begin(message: Buffer, timeoutMs: number, onEnd: (end: CallEnd) => void): () => void {
    const stream = this.nextStream;
    this.nextStream += 2;
    const head = headerBlock({ ...this.fields, 'grpc-timeout': `${Math.ceil(timeoutMs)}m` });
    const body = Buffer.allocUnsafe(MESSAGE_HEADER_BYTES + message.length);
    body[0] = 0;
    body.writeUInt32BE(message.length, 1);
    message.copy(body, MESSAGE_HEADER_BYTES);
    this.out.push(
      frame(FrameType.HEADERS, Flag.END_HEADERS, stream, head),
      frame(FrameType.DATA, Flag.END_STREAM, stream, body),
    );
    this.sendWindow -= body.length;
    this.calls.set(stream, { onEnd, parts: this.keepsAnswers ? [] : undefined });
    return () => {
      if (!this.calls.delete(stream)) return;
      this.out.push(resetStream(stream, ErrorCode.CANCEL));
      onEnd({ status: CANCELLED_BY_CALLER });
    };
  }

  flush(): void {
    if (this.out.length === 0) return;
    if (this.isOpen) this.socket.write(Buffer.concat(this.out));
    this.out = [];
  }

  close(): void {
    this.socket.destroy();
  }

  private take({ type, flags, stream, payload }: Frame): void {
    switch (type) {
      case FrameType.HEADERS: {
        const status = statusOf(payload);
        if (status !== undefined) this.end(stream, { status, answer: this.answerOf(stream) });
        break;
      }
      case FrameType.DATA:
        this.calls.get(stream)?.parts?.push(Buffer.from(payload));
        this.taken += payload.length;
        if (this.taken >= WINDOW_BYTES / 2) {
          this.out.push(windowUpdate(0, this.taken));
          this.taken = 0;
        }
        break;
      case FrameType.RST_STREAM:
        this.end(stream, { reset: payload.readUInt32BE(0) });
        break;
      case FrameType.SETTINGS:
        if ((flags & Flag.ACK) !== 0) break;
        this.streamsMax =
          settingsOf(payload).get(Setting.MAX_CONCURRENT_STREAMS) ?? this.streamsMax;
        this.out.push(acknowledgement(FrameType.SETTINGS, Buffer.alloc(0)));
        this.flush();
        break;
      case FrameType.PING:
        if ((flags & Flag.ACK) === 0) this.out.push(acknowledgement(FrameType.PING, payload));
        break;
      case FrameType.WINDOW_UPDATE:
        if (stream === 0) this.sendWindow += payload.readUInt32BE(0);
        break;
      default:
        break;
    }
  }

  private answerOf(stream: number): Buffer | undefined {
    const parts = this.calls.get(stream)?.parts;
    return parts && Buffer.concat(parts).subarray(MESSAGE_HEADER_BYTES);
  }

  private end(stream: number, end: CallEnd): void {
    const call = this.calls.get(stream);
    this.calls.delete(stream);
    call?.onEnd(end);
  }
}
