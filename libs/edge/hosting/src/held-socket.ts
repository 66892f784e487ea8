import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Caller } from '@tessera/admission';

/** A client's HTTP/1 connection: held by not reading what it sends behind the last answer. */
export class HeldSocket implements Caller {
  private isHeld = false;

  private constructor(private readonly socket: Socket) {}

  private static readonly known = new WeakMap<Socket, HeldSocket>();

  /** The caller whose request the answer is for. */
  static of({ req: { socket } }: ServerResponse, onClose: (caller: Caller) => void): HeldSocket {
    const known = HeldSocket.known.get(socket);
    if (known !== undefined) return known;
    const caller = new HeldSocket(socket);
    HeldSocket.known.set(socket, caller);
    socket.once('close', () => onClose(caller));
    return caller;
  }

  hold(): void {
    this.isHeld = true;
    this.socket.pause();
  }

  release(): void {
    this.isHeld = false;
    this.socket.resume();
  }

  /** Node reads on behind each answer. */
  answered(): void {
    if (this.isHeld) this.socket.pause();
  }
}
