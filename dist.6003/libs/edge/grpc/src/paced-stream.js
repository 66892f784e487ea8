import { once } from "node:events";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { Observable } from "rxjs";
/** How long a reader may take nothing before its stream is ended. */ export const SLOW_READER_MS = 30_000;
/**
 * Messages of a stream, each made only when its reader has taken those before: a reader that does
 * not read costs one message of memory, and its stream ends with DEADLINE_EXCEEDED in the end.
 * Between messages the event loop goes round, so that other calls go on.
 */ export function paced(messages, call) {
    return new Observable((subscriber)=>{
        const act = async ()=>{
            for await (const message of messages){
                if (subscriber.closed || call.cancelled) return;
                subscriber.next(message);
                if (call.writableNeedDrain) await drained(call);
                await turnOfTheLoop();
            }
            subscriber.complete();
        };
        act().catch((thrown)=>subscriber.error(thrown));
    });
}
/** Resolves when the stream takes more, or nobody reads it any longer. */ async function drained(call) {
    const waiting = new AbortController();
    const { signal } = waiting;
    const timer = setTimeout(()=>waiting.abort(), SLOW_READER_MS);
    const emitter = call;
    try {
        await Promise.race([
            'drain',
            'cancelled',
            'close'
        ].map((name)=>once(emitter, name, {
                signal
            })));
    } catch (cause) {
        const message = `the reader of the stream took nothing for ${SLOW_READER_MS} ms`;
        throw new TesseraError('DEADLINE_EXCEEDED', message, {
            cause
        });
    } finally{
        clearTimeout(timer);
        waiting.abort();
    }
}

//# sourceMappingURL=paced-stream.js.map