import { createServer } from "node:net";
/** A port that nobody listens on now; `wanted` itself unless it is 0. */ export async function resolvePort(host, wanted) {
    if (wanted !== 0) return wanted;
    const server = createServer();
    await new Promise((resolve, reject)=>{
        server.once('error', reject);
        server.listen(0, host, resolve);
    });
    const address = server.address();
    await new Promise((resolve)=>server.close(resolve));
    if (address === null || typeof address === 'string') {
        throw new Error(`no port could be had on ${host}`);
    }
    return address.port;
}

//# sourceMappingURL=free-port.js.map