import { serveCalls } from "../../../processes/src/index.js";
import { DuckDbRecorder } from "../outside/duckdb-recorder.js";
const RETENTION_PERIOD_MS = 60_000;
const METHODS = new Set([
    ...[
        'writeRecalls',
        'writePulses',
        'writeChanges',
        'recalls',
        'recall',
        'changes',
        'pulses'
    ],
    ...[
        'eraseUser',
        'sizes',
        'retain',
        'snapshot',
        'close'
    ]
]);
/** Of `Shelf`, under this name and a dot. */ const SHELF = 'shelf.';
/** The process that alone writes the inspection store. */ export function serveRecorder(channel) {
    const server = new RecorderServer();
    serveCalls(channel, (method, values)=>server.answer(method, values));
}
let RecorderServer = class RecorderServer {
    recorder;
    async answer(method, values) {
        if (method === 'open') {
            this.recorder = await DuckDbRecorder.open(values[0], report);
            const retain = ()=>void this.recorder?.retain(Date.now()).catch(report);
            setInterval(retain, RETENTION_PERIOD_MS).unref();
            return undefined;
        }
        const { recorder } = this;
        if (recorder === undefined) throw new Error('expected open() before any other call');
        const isShelf = method.startsWith(SHELF);
        const target = isShelf ? recorder.shelf : recorder;
        const name = isShelf ? method.slice(SHELF.length) : method;
        const act = target[name];
        if (typeof act !== 'function' || !isShelf && !METHODS.has(name)) {
            throw new Error(`expected a method of the store, got ${method}`);
        }
        return act.apply(target, [
            ...values
        ]);
    }
};
function report(thrown) {
    process.stderr.write(`the inspection store: ${String(thrown)}\n`);
}

//# sourceMappingURL=recorder-server.js.map