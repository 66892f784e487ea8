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
  lastStreamOf,
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

/** Bytes of a call that do not change from one to the next, and those that do. */
export interface CallBytes {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly message: Buffer;
}

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

/** Unary calls over one HTTP/2 connection, without TLS. */
export class GrpcConnection {
  private readonly reader = new FrameReader();
  private readonly calls = new Map<number, OpenCall>();
  /** Header blocks by path, and of deadlines by their milliseconds. */
  private readonly heads = new Map<string, Buffer>();
  private readonly timeouts = new Map<number, Buffer>();
  private nextStream = 1;
  private out: Buffer[] = [];
  private sendWindow = FIRST_WINDOW_BYTES;
  private taken = 0;
  private isOpen = true;
  private isGoing = false;
  private isGreeted = false;
  private onGreeted: () => void = () => undefined;
  private streamsMax = Number.POSITIVE_INFINITY;

  private constructor(
    private readonly socket: Socket,
    private readonly address: string,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly keepsAnswers: boolean,
  ) {
    socket.on('data', (chunk: Buffer) => {
      this.reader.read(chunk, (one) => this.take(one));
      this.flush();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isOpen = false;
      this.onGreeted();
      for (const stream of [...this.calls.keys()]) this.end(stream, { lost: true });
    });
  }

  /**
   * Resolves once the server has told its limits.
   * @throws Error where it closes before
   */
  static async open(
    address: string,
    { headers = {}, keepsAnswers = false }: ConnectionOptions = {},
  ): Promise<GrpcConnection> {
    const [host, port] = address.split(':') as [string, string];
    const socket = connect({ host, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    const connection = new GrpcConnection(socket, address, headers, keepsAnswers);
    const greeted = new Promise<void>((resolve) => {
      connection.onGreeted = resolve;
    });
    socket.write(greeting(WINDOW_BYTES));
    await greeted;
    if (!connection.isGreeted) throw new Error(`expected settings of ${address}, it closed`);
    return connection;
  }

  /** Resolves when no call may begin any more and none is left. */
  async ended(): Promise<void> {
    if (this.isOpen) await once(this.socket, 'close');
  }

  /** True if a call may begin now: as many as the server allows, within its window. */
  hasRoom(message: Buffer): boolean {
    const isBelowLimit = this.calls.size < this.streamsMax;
    const isUsable = this.isOpen && !this.isGoing;
    return isUsable && isBelowLimit && this.sendWindow >= message.length + MESSAGE_HEADER_BYTES;
  }

  /**
   * Begins a call; calls that begin in the same turn are written together. The returned function
   * cancels it as a client does whose deadline has passed.
   */
  begin(call: CallBytes, timeoutMs: number, onEnd: (end: CallEnd) => void): () => void {
    const stream = this.nextStream;
    this.nextStream += 2;
    const { path, message } = call;
    const head = Buffer.concat([this.headOf(path), this.timeoutOf(Math.ceil(timeoutMs))]);
    const body = Buffer.allocUnsafe(MESSAGE_HEADER_BYTES + message.length);
    body[0] = 0;
    body.writeUInt32BE(message.length, 1);
    message.copy(body, MESSAGE_HEADER_BYTES);
    this.write(
      frame(FrameType.HEADERS, Flag.END_HEADERS, stream, head),
      frame(FrameType.DATA, Flag.END_STREAM, stream, body),
    );
    this.sendWindow -= body.length;
    this.calls.set(stream, { onEnd, parts: this.keepsAnswers ? [] : undefined });
    return () => {
      if (!this.calls.has(stream)) return;
      this.write(resetStream(stream, ErrorCode.CANCEL));
      this.end(stream, { status: CANCELLED_BY_CALLER });
    };
  }

  close(): void {
    this.socket.destroy();
  }

  private write(...frames: readonly Buffer[]): void {
    if (this.out.length === 0) queueMicrotask(() => this.flush());
    this.out.push(...frames);
  }

  private flush(): void {
    if (this.out.length === 0) return;
    if (this.isOpen) this.socket.write(Buffer.concat(this.out));
    this.out = [];
  }

  private headOf(path: string): Buffer {
    const known = this.heads.get(path);
    if (known !== undefined) return known;
    const head = headerBlock(Object.assign({}, callFields(this.address, path), this.headers));
    this.heads.set(path, head);
    return head;
  }

  private timeoutOf(ms: number): Buffer {
    const known = this.timeouts.get(ms);
    if (known !== undefined) return known;
    const block = headerBlock({ 'grpc-timeout': `${ms}m` });
    this.timeouts.set(ms, block);
    return block;
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
          this.write(windowUpdate(0, this.taken));
          this.taken = 0;
        }
        break;
      case FrameType.RST_STREAM:
        this.end(stream, { reset: payload.readUInt32BE(0) });
        break;
      case FrameType.SETTINGS:
        if ((flags & Flag.ACK) === 0) this.takeSettings(payload);
        break;
      case FrameType.PING:
        if ((flags & Flag.ACK) === 0) this.write(acknowledgement(FrameType.PING, payload));
        break;
      case FrameType.GOAWAY:
        this.goAway(lastStreamOf(payload));
        break;
      case FrameType.WINDOW_UPDATE:
        if (stream === 0) this.sendWindow += payload.readUInt32BE(0);
        break;
      default:
        break;
    }
  }

  private takeSettings(payload: Buffer): void {
    this.streamsMax = settingsOf(payload).get(Setting.MAX_CONCURRENT_STREAMS) ?? this.streamsMax;
    this.write(acknowledgement(FrameType.SETTINGS, Buffer.alloc(0)));
    this.isGreeted = true;
    this.onGreeted();
  }

  /** Streams behind the last that the server has taken were not looked at (RFC 9113, 6.8). */
  private goAway(lastStream: number): void {
    this.isGoing = true;
    for (const stream of [...this.calls.keys()]) {
      if (stream > lastStream) this.end(stream, { reset: ErrorCode.REFUSED_STREAM });
    }
    if (this.calls.size === 0) this.close();
  }

  private answerOf(stream: number): Buffer | undefined {
    const parts = this.calls.get(stream)?.parts;
    return parts && Buffer.concat(parts).subarray(MESSAGE_HEADER_BYTES);
  }

  private end(stream: number, end: CallEnd): void {
    const call = this.calls.get(stream);
    this.calls.delete(stream);
    call?.onEnd(end);
    if (this.isGoing && this.calls.size === 0) this.close();
  }
}
