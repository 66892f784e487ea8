/** Aborted when the page that asked has gone before its answer was written. */ export function goneSignal({ raw }) {
    const controller = new AbortController();
    raw.once('close', ()=>{
        if (!raw.writableFinished) controller.abort();
    });
    return controller.signal;
}

//# sourceMappingURL=gone-signal.js.map