import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { DirectServing } from '../direct/direct-method.js';
import { DirectStreams } from '../direct/direct-streams.js';
import { FrameGate, type GateWires } from './frame-gate.js';

export interface GatedSocketSettings {
  readonly decide: GateWires['decide'];
  /** Calls at once of the connection. */
  readonly streamsMax: number;
  /** Undefined: the server answers all calls. */
  readonly direct: DirectServing | undefined;
}

/** Answers that a client has not read; beyond that it is not read from either. */
const UNREAD_BYTES_MAX = 2 ** 20;

/** Name in the certificate that the client showed and an authority of ours signed. */
function certificateOf(socket: Socket): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  return socket.getPeerCertificate().subject?.CN?.toString();
}

/**
 * A connection as the HTTP/2 server gets it: its socket with a gate before it. What the gate writes
 * itself goes out once a turn of the event loop.
 */
export class GatedSocket extends Duplex {
  private readonly gate: FrameGate;
  private readonly direct: DirectStreams | undefined;
  /** Name in the certificate of the client; undefined: it showed none. */
  readonly certificate: string | undefined;
  private isHeldBack = false;
  private isClogged = false;
  private out: Buffer[] = [];
  private isToFlush = false;
  private onIdle: (() => void)[] = [];

  constructor(
    private readonly socket: Socket,
    { decide, streamsMax, direct }: GatedSocketSettings,
  ) {
    super({ allowHalfOpen: true });
    this.certificate = certificateOf(socket);
    const wires = {
      toClient: (bytes: Buffer) => this.gate.answer(bytes),
      onIdle: () => this.idle(),
      onFlood: () => this.socket.destroy(),
    };
    this.direct = direct && new DirectStreams(direct, wires, this.certificate);
    this.gate = new FrameGate({
      toServer: (bytes) => this.deliver(bytes),
      toClient: (bytes) => this.send(bytes),
      decide,
      streamsMax,
      direct: this.direct,
    });
    socket.on('data', (chunk: Buffer) => this.gate.fromClient(chunk));
    socket.on('drain', () => {
      this.isClogged = false;
      this.readOn();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => {
      this.gate.close();
      this.destroy();
    });
  }

  get remoteAddress(): string | undefined {
    return this.socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.socket.remotePort;
  }

  /** Resolves when the gate answers no call of the connection. */
  async answered(): Promise<void> {
    if ((this.direct?.size ?? 0) === 0) return;
    await new Promise<void>((resolve) => {
      this.onIdle.push(resolve);
    });
  }

  private idle(): void {
    for (const act of this.onIdle.splice(0)) act();
  }

  private deliver(bytes: Buffer): void {
    if (this.destroyed || this.push(bytes) || this.isHeldBack) return;
    this.isHeldBack = true;
    this.socket.pause();
  }

  private send(bytes: Buffer): void {
    this.out.push(bytes);
    if (this.isToFlush) return;
    this.isToFlush = true;
    process.nextTick(() => this.flush());
  }

  private flush(): void {
    this.isToFlush = false;
    const { out, socket } = this;
    if (out.length === 0) return;
    this.out = [];
    if (!socket.writable) return;
    socket.write(out.length === 1 ? (out[0] as Buffer) : Buffer.concat(out));
    if (socket.writableLength <= UNREAD_BYTES_MAX) return;
    this.isClogged = true;
    socket.pause();
  }

  private readOn(): void {
    if (!this.isHeldBack && !this.isClogged) this.socket.resume();
  }

  override _read(): void {
    if (!this.isHeldBack) return;
    this.isHeldBack = false;
    this.readOn();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.writeAll(chunk, done);
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    this.writeAll(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  /** Waits until the other end has read: that paces the server. */
  private writeAll(bytes: Buffer, done: () => void): void {
    this.gate.fromServer(bytes);
    this.flush();
    if (this.socket.writableNeedDrain) this.socket.once('drain', done);
    else done();
  }

  override _final(done: () => void): void {
    void this.answered().then(() => {
      this.flush();
      this.socket.end(done);
    });
  }

  /** The server is done with the connection; calls that the gate answers may not be. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.gate.leave();
    const end = () => {
      this.flush();
      this.gate.close();
      this.socket.destroySoon();
    };
    if (error !== null || this.socket.destroyed) {
      this.gate.close();
      this.socket.destroy();
    } else void this.answered().then(end);
    done(error);
  }
}
