/** Asks what disturbs recalls, in a process of its own; its parent says when it begins and ends. */ import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { CHECKERS, HOSTILE } from "./disturb-child.js";
/** Milliseconds before somebody who was refused asks again. */ const AGAIN_MS = 50;
const TOO_MANY_REQUESTS = 429;
const LOWEST_PRIORITY = 19;
// They would ask from machines of their own.
setPriority(LOWEST_PRIORITY);
let end = new AbortController();
let others = Promise.resolve();
let counts;
process.on('message', async (order)=>{
    if (order.kind === 'begin') {
        end = new AbortController();
        counts = {
            queries: 0,
            checks: 0,
            refused: 0
        };
        others = disturb(order.httpUrl, end.signal);
        return;
    }
    end.abort();
    await others;
    process.send?.(counts);
});
/** Until the signal is aborted: each asks again as soon as it is answered. */ async function disturb(httpUrl, signal) {
    const again = async (kind, path, body)=>{
        while(!signal.aborted){
            const status = await posted(httpUrl + path, body, signal);
            if (status === TOO_MANY_REQUESTS) {
                counts.refused += 1;
                await pause(AGAIN_MS);
            } else if (status !== 0) counts[kind] += 1;
        }
    };
    const queries = HOSTILE.map((sql)=>again('queries', '/console/api/sql', {
            sql
        }));
    const checks = Array.from({
        length: CHECKERS
    }, ()=>again('checks', '/v1/kv/check-integrity', {}));
    await Promise.all([
        ...queries,
        ...checks
    ]);
}
/** Its status; 0 where the caller has gone. */ async function posted(url, body, signal) {
    try {
        const headers = {
            'content-type': 'application/json',
            'x-tessera-console': '1'
        };
        const text = JSON.stringify(body);
        const reply = await fetch(url, {
            method: 'POST',
            headers,
            body: text,
            signal
        });
        await reply.arrayBuffer();
        return reply.status;
    } catch (thrown) {
        if (signal.aborted) return 0;
        throw thrown;
    }
}

//# sourceMappingURL=disturb-process.js.map