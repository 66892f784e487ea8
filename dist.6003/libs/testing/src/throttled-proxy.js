import { createConnection, createServer } from "node:net";
const PART_BYTES = 1 << 16;
const TURN_MS = 1;
/**
 * Leads connections to a server over one link of so many bytes a second from there, which they
 * share part by part; what is sent to the server waits for nothing.
 */ export async function throttledProxy(target, bytesPerSecond) {
    const [host = '', port = ''] = target.split(':');
    const waiting = new Map();
    const sockets = new Set();
    let paidMs = performance.now();
    const pump = setInterval(()=>{
        const nowMs = performance.now();
        // A pause is not made up for: a link has no credit.
        paidMs = Math.max(paidMs, nowMs - 20);
        while(paidMs < nowMs && waiting.size > 0){
            for (const [to, parts] of waiting){
                const part = parts.shift();
                if (part === undefined) {
                    waiting.delete(to);
                    continue;
                }
                paidMs += part.length / bytesPerSecond * 1000;
                to.write(part);
            }
        }
    }, TURN_MS);
    const server = createServer((near)=>{
        const far = createConnection(Number(port), host);
        for (const socket of [
            near,
            far
        ]){
            sockets.add(socket);
            socket.on('error', ()=>undefined);
            socket.on('close', ()=>{
                sockets.delete(socket);
                waiting.delete(near);
                near.destroy();
                far.destroy();
            });
        }
        near.pipe(far);
        far.on('data', (bytes)=>{
            const parts = waiting.get(near) ?? [];
            for(let at = 0; at < bytes.length; at += PART_BYTES){
                parts.push(bytes.subarray(at, at + PART_BYTES));
            }
            waiting.set(near, parts);
        });
    });
    await new Promise((resolve)=>server.listen(0, '127.0.0.1', resolve));
    const { port: own } = server.address();
    return {
        address: `127.0.0.1:${own}`,
        close: ()=>{
            clearInterval(pump);
            for (const socket of sockets)socket.destroy();
            return new Promise((resolve)=>{
                server.close(()=>resolve());
            });
        }
    };
}

//# sourceMappingURL=throttled-proxy.js.map