/** Resolves when the process has ended. */ export function ended(child, signal) {
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((resolve)=>{
        child.once('exit', ()=>resolve());
        child.kill(signal);
    });
}

//# sourceMappingURL=server-process.js.map