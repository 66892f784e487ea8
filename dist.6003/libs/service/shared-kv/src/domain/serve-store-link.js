import { TesseraError } from "../../../../ops/errors/src/index.js";
const NEVER_ERASED = -1;
const PAUSES_MS = [
    100,
    10_000
];
/**
 * Answers the engine's calls with a store. Each call ends exactly once, whatever the store does.
 * The link and the store belong to the caller, which closes both behind it.
 */ export function serveStoreLink(link, store, options) {
    const rest = {
        erasedUntil: NEVER_ERASED,
        isClosed: false,
        pauses: new Set()
    };
    const serving = {
        link,
        store,
        options,
        ...rest
    };
    const running = new Set();
    link.serve((call)=>{
        const run = answer(serving, call).finally(()=>running.delete(run));
        running.add(run);
    });
    return {
        ended: async ()=>{
            await Promise.allSettled(running);
        },
        setErasedUntil: (offset)=>{
            serving.erasedUntil = Math.max(offset, serving.erasedUntil);
        },
        close: ()=>{
            serving.isClosed = true;
            for (const end of serving.pauses)end();
        }
    };
}
async function answer(serving, call) {
    const end = await outcomeOf(serving, call).catch(failed);
    serving.link.end(call.id, ...end);
}
function failed(thrown) {
    const { code, message } = TesseraError.from(thrown);
    return [
        'failed',
        undefined,
        `${code}: ${message}`
    ];
}
async function outcomeOf(serving, call) {
    const { store } = serving;
    switch(call.kind){
        case 'find':
            {
                const found = await store.find(call);
                return found === undefined ? [
                    'missing'
                ] : [
                    'ok',
                    found.head,
                    found.revision
                ];
            }
        case 'read':
            {
                const bytes = await store.read(call, call.block);
                return bytes === undefined ? [
                    'missing'
                ] : [
                    'ok',
                    bytes
                ];
            }
        case 'erase':
            await eraseSurely(serving, call);
            return [
                'ok'
            ];
        default:
            return sent(serving, call);
    }
}
/** A write or a publish. */ async function sent({ link, store, erasedUntil }, call) {
    const bytes = link.bytes(call.id);
    if (bytes === undefined) return [
        'failed',
        undefined,
        'CANCELLED: the engine has given it up'
    ];
    if (call.kind === 'write') {
        const outcome = await store.write(call, call.block, bytes, erasedUntil);
        return [
            outcome === 'kept' ? 'ok' : outcome
        ];
    }
    const { replaces, gone } = call;
    const outcome = await store.publish(call, bytes, replaces, gone, erasedUntil);
    return typeof outcome === 'string' ? [
        outcome
    ] : [
        'ok',
        undefined,
        outcome.kept
    ];
}
async function eraseSurely(serving, { owner, at }) {
    const { store, options, pauses } = serving;
    const [firstMs, longestMs] = options.pauseMs ?? PAUSES_MS;
    const endMs = performance.now() + options.eraseMs;
    for(let pauseMs = firstMs;; pauseMs = Math.min(2 * pauseMs, longestMs)){
        try {
            return await store.erase(owner, at);
        } catch (thrown) {
            if (serving.isClosed || performance.now() + pauseMs > endMs) throw thrown;
        }
        await pausing(pauseMs, pauses);
    }
}
function pausing(pauseMs, pauses) {
    return new Promise((resolve)=>{
        const end = ()=>{
            clearTimeout(timer);
            pauses.delete(end);
            resolve();
        };
        const timer = setTimeout(end, pauseMs);
        pauses.add(end);
    });
}

//# sourceMappingURL=serve-store-link.js.map