import { getPriority, setPriority } from "node:os";
import { serveFacts } from "../../../libs/insight/facts/src/index.js";
import { serveLauncher, serveQuery, serveRecorder } from "../../../libs/insight/inspection/src/index.js";
/**
 * The processes behind the inspection store: `recorder`, `facts` and `launcher`, which the service
 * starts with a channel to it, and `query`, which the launcher starts; each with its niceness.
 */ const KINDS = {
    recorder: serveRecorder,
    facts: serveFacts,
    launcher: serveLauncher,
    query: serveQuery
};
const [, , name = '', niceness = ''] = process.argv;
const serve = KINDS[name];
if (serve === undefined) throw new Error(`expected recorder, facts, launcher or query, got '${name}'`);
// A service that is nicer than that already may not take it back.
setPriority(Math.max(getPriority(), Number(niceness)));
// A terminal interrupts its whole group; the service says when this process ends.
for (const signal of [
    'SIGINT',
    'SIGTERM',
    'SIGHUP'
])process.on(signal, ()=>undefined);
serve(process);

//# sourceMappingURL=main.js.map