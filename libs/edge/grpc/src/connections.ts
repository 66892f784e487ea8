import type { Socket } from 'node:net';
import type { ConnectionInjector } from '@grpc/grpc-js';
import { TIMER_MS_MAX } from '@tessera/units';

/** Milliseconds in which a client without calls closes a connection that was ended. */
const FAREWELL_MS = 2000;
/** How often clients are told: one whose handshake ends meanwhile is told then. */
const TOLD_EVERY_MS = 100;

/**
 * The connections of a gRPC server and the calls over them. A connection ends with GOAWAY, which
 * names the last call that is served: a client asks elsewhere what crossed it on the wire (gRPC,
 * "transparent retries") and closes the connection behind its last call. Until it has, the socket
 * stays: closed by us, what the client still sends is answered with a reset, and the client throws
 * the GOAWAY away unread.
 */
export class Connections {
  private readonly open = new Set<Socket>();
  private underWay = 0;

  /** Counts a call until its stream is gone. */
  begin(stream: Pick<NodeJS.EventEmitter, 'once'>): void {
    this.underWay += 1;
    stream.once('close', () => {
      this.underWay -= 1;
    });
  }

  add(socket: Socket): void {
    this.open.add(socket);
    socket.once('close', () => this.open.delete(socket));
  }

  /** Resolves when all clients have closed theirs, or without calls have not for two seconds. */
  async end(injector: Pick<ConnectionInjector, 'drain'>): Promise<void> {
    let quietMs = 0;
    await new Promise<void>((resolve) => {
      const look = () => {
        // Calls end in their own time; the budget of the drain bounds them.
        injector.drain(TIMER_MS_MAX);
        quietMs = this.underWay === 0 ? quietMs + TOLD_EVERY_MS : 0;
        if (this.open.size > 0 && quietMs <= FAREWELL_MS) return;
        clearInterval(timer);
        resolve();
      };
      const timer = setInterval(look, TOLD_EVERY_MS);
      for (const socket of this.open) {
        socket.once('close', () => {
          if (this.open.size === 0) look();
        });
      }
      look();
    });
    for (const socket of this.open) socket.destroy();
  }
}
