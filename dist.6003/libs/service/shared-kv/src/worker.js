/** Program of a store's thread: answers the engine's calls of one link, away from Node's thread. */ import { parentPort, workerData } from "node:worker_threads";
import { openStoreLink as openEngineLink } from "../../../engine/src/index.js";
import { serveStoreLink } from "./domain/serve-store-link.js";
import { guarded } from "./guarded-store.js";
import { openStore } from "./open-store.js";
const REPORT_EVERY_MS = 1000;
const NOBODY = {
    owner: '0'.repeat(32),
    version: '0'.repeat(32)
};
const { field, store, guard, serve, link: source } = workerData;
const { openStoreLink } = source.module === undefined ? {
    openStoreLink: openEngineLink
} : await import(source.module);
const kept = guarded(openStore(field, store), guard);
const link = openStoreLink(source.data);
const served = serveStoreLink(link, kept, serve);
function report() {
    const metrics = {
        ...kept.readCounts(),
        isOpen: kept.isOpen(),
        reason: kept.reason()
    };
    parentPort?.postMessage({
        metrics
    });
}
const reporting = setInterval(report, REPORT_EVERY_MS);
kept.onChange((isOpen)=>{
    link.setAvailable(!isOpen);
    report();
});
// The first find of a user should not wait for the connection.
kept.find(NOBODY).catch(()=>undefined);
link.setAvailable(true);
async function close() {
    clearInterval(reporting);
    served.close();
    await kept.close();
    await served.ended();
    link.close();
    report();
    parentPort?.close();
}
parentPort?.on('message', (order)=>{
    if (order === 'close') void close();
    else served.setErasedUntil(order.erasedUntil);
});

//# sourceMappingURL=worker.js.map