import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that serves another service below a path, which it takes off; elsewhere is nothing. */
export class PrefixProxy {
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(prefix: string, target: string): Promise<PrefixProxy> {
    const server = createServer((incoming, outgoing) => {
      const { url = '', method, headers } = incoming;
      if (!url.startsWith(`${prefix}/`)) {
        outgoing.writeHead(404).end();
        return;
      }
      const call = request(target + url.slice(prefix.length), { method, headers }, (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(outgoing);
      });
      call.on('error', () => outgoing.destroy());
      incoming.pipe(call);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new PrefixProxy(server, `http://127.0.0.1:${port}${prefix}`);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
