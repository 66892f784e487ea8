import { once } from "node:events";
import { createServer, request } from "node:http";
/** A proxy that serves another service below a path, which it takes off; elsewhere is nothing. */ export class PrefixProxy {
    server;
    url;
    constructor(server, url){
        this.server = server;
        this.url = url;
    }
    static async start(prefix, target) {
        const server = createServer((incoming, outgoing)=>{
            const { url = '', method, headers } = incoming;
            if (!url.startsWith(`${prefix}/`)) {
                outgoing.writeHead(404).end();
                return;
            }
            const call = request(target + url.slice(prefix.length), {
                method,
                headers
            }, (reply)=>{
                outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
                reply.pipe(outgoing);
            });
            call.on('error', ()=>outgoing.destroy());
            incoming.pipe(call);
        });
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address();
        return new PrefixProxy(server, `http://127.0.0.1:${port}${prefix}`);
    }
    async stop() {
        this.server.closeAllConnections();
        this.server.close();
        await once(this.server, 'close');
    }
}

//# sourceMappingURL=prefix-proxy.js.map