import { setTimeout as after } from 'node:timers/promises';
import { type CallBytes, type CallEnd, GrpcConnection } from './grpc-connection.js';
import type { LoadPlan } from './load-plan.js';

/** Milliseconds before a connection that could not be opened anew is tried again. */
const AGAIN_MS = 100;

/** Connections of a generator, each of a caller; one that the service closes is opened anew. */
export class ConnectionPool {
  private readonly open: (GrpcConnection | undefined)[];
  private isClosed = false;
  lostConnections = 0;

  private constructor(
    private readonly plan: LoadPlan,
    connections: readonly GrpcConnection[],
    private readonly onReopened: (place: number) => void,
  ) {
    this.open = [...connections];
    for (const place of connections.keys()) void this.keep(place);
  }

  static async start(plan: LoadPlan, onReopened: (place: number) => void): Promise<ConnectionPool> {
    const opening = Array.from({ length: plan.connections }, () => opened(plan));
    return new ConnectionPool(plan, await Promise.all(opening), onReopened);
  }

  /** The function that cancels the call; undefined where the connection has no room for it. */
  begin(
    place: number,
    call: CallBytes,
    timeoutMs: number,
    onEnd: (end: CallEnd) => void,
  ): (() => void) | undefined {
    const connection = this.open[place];
    return connection?.hasRoom(call.message) ? connection.begin(call, timeoutMs, onEnd) : undefined;
  }

  close(): void {
    this.isClosed = true;
    for (const connection of this.open) connection?.close();
  }

  private async keep(place: number): Promise<void> {
    while (!this.isClosed) {
      const connection = this.open[place];
      await connection?.ended();
      if (this.isClosed) return;
      if (connection !== undefined) this.lostConnections += 1;
      this.open[place] = await opened(this.plan).catch(() => undefined);
      if (this.open[place] === undefined) await after(AGAIN_MS);
      else this.onReopened(place);
    }
    this.open[place]?.close();
  }
}

function opened({ address, headers, readsTimings }: LoadPlan): Promise<GrpcConnection> {
  return GrpcConnection.open(address, {
    headers: headers ?? {},
    keepsAnswers: readsTimings === true,
  });
}
