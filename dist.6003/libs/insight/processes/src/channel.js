/** The part of `process` by which a child talks to its parent. */ /** Resolves when the message has been handed over whole. */ export function sendAll(channel, message) {
    return new Promise((resolve, reject)=>{
        if (channel.send === undefined) {
            reject(new Error('expected a channel to the process that started this one'));
            return;
        }
        channel.send(message, (error)=>{
            if (error === null) resolve();
            else reject(error);
        });
    });
}
/** At once: a statement that still runs on a thread would hold up an orderly end. */ export function endProcess() {
    process.kill(process.pid, 'SIGKILL');
}

//# sourceMappingURL=channel.js.map