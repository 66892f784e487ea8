import {
  type AddressInfo,
  createConnection,
  createServer,
  type Server,
  type Socket,
} from 'node:net';

/** Directions in which nothing passes. */
export type Cut = 'none' | 'requests' | 'answers' | 'both';

/** A link to a server which is cut by direction: bytes wait, connections stay. */
export class CutProxy {
  private cut: Cut = 'none';
  private readonly pairs = new Map<Socket, Socket>();

  private constructor(
    private readonly server: Server,
    readonly address: string,
  ) {}

  static async open(target: string): Promise<CutProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const proxy = new CutProxy(server, `127.0.0.1:${port}`);
    const [host = '', at = ''] = target.split(':');
    server.on('connection', (near) => proxy.join(near, createConnection(Number(at), host)));
    return proxy;
  }

  set(cut: Cut): void {
    this.cut = cut;
    for (const [near, far] of this.pairs) this.apply(near, far);
  }

  close(): void {
    for (const [near] of this.pairs) near.destroy();
    this.server.close();
  }

  private join(near: Socket, far: Socket): void {
    this.pairs.set(near, far);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => undefined);
      from.on('data', (bytes) => to.write(bytes));
      from.on('close', () => {
        this.pairs.delete(near);
        to.destroy();
      });
    }
    this.apply(near, far);
  }

  private apply(near: Socket, far: Socket): void {
    const stop = (socket: Socket, isCut: boolean) => (isCut ? socket.pause() : socket.resume());
    stop(near, this.cut === 'requests' || this.cut === 'both');
    stop(far, this.cut === 'answers' || this.cut === 'both');
  }
}
