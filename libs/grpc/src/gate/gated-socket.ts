import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { FrameGate, type GateWires } from './frame-gate.js';

/** A connection as the HTTP/2 server gets it: its socket with a gate before it. */
export class GatedSocket extends Duplex {
  private readonly gate: FrameGate;
  private isHeldBack = false;

  constructor(
    private readonly socket: Socket,
    judge: GateWires['judge'],
  ) {
    super({ allowHalfOpen: true });
    this.gate = new FrameGate({
      toServer: (bytes) => this.deliver(bytes),
      toClient: (bytes) => {
        if (socket.writable) socket.write(bytes);
      },
      judge,
    });
    socket.on('data', (chunk: Buffer) => this.gate.fromClient(chunk));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  get remoteAddress(): string | undefined {
    return this.socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.socket.remotePort;
  }

  private deliver(bytes: Buffer): void {
    if (this.push(bytes) || this.isHeldBack) return;
    this.isHeldBack = true;
    this.socket.pause();
  }

  override _read(): void {
    if (!this.isHeldBack) return;
    this.isHeldBack = false;
    this.socket.resume();
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

  /** What the reader at the other end has not taken is waited for: that paces the server. */
  private writeAll(bytes: Buffer, done: () => void): void {
    this.gate.fromServer(bytes);
    if (this.socket.writableNeedDrain) this.socket.once('drain', done);
    else done();
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.gate.close();
    this.socket.destroy();
    done(error);
  }
}
