import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Caller } from '@tessera/admission';

/**
 * Longest hold, milliseconds: over the connection of a proxy come the requests of others next, and
 * its questions if the service lives.
 */
const HELD_MS_MAX = 100;

/** A client's HTTP/1 connection: held by not reading what it sends behind the last answer. */
export class HeldSocket implements Caller {
  private static readonly known = new WeakMap<Socket, HeldSocket>();
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly socket: Socket,
    private readonly onFree: (caller: Caller) => void,
  ) {}

  /**
   * The caller whose request the answer is for.
   * @param onFree called when its connection is gone, or read again although nobody released it
   */
  static of({ req: { socket } }: ServerResponse, onFree: (caller: Caller) => void): HeldSocket {
    const known = HeldSocket.known.get(socket);
    if (known !== undefined) return known;
    const caller = new HeldSocket(socket, onFree);
    HeldSocket.known.set(socket, caller);
    socket.once('close', () => {
      clearTimeout(caller.timer);
      onFree(caller);
    });
    return caller;
  }

  hold(): void {
    this.socket.pause();
    this.timer = setTimeout(() => {
      this.release();
      this.onFree(this);
    }, HELD_MS_MAX);
  }

  release(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.socket.resume();
  }

  /** Node reads on behind each answer. */
  answered(): void {
    if (this.timer !== undefined) this.socket.pause();
  }
}
