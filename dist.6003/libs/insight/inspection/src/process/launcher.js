import { TesseraError } from "../../../../ops/errors/src/index.js";
import { startLimited } from "../../../processes/src/index.js";
/**
 * Starts processes from a small one of their own. A process that starts another copies its page
 * tables first (fork(2)): from the service that holds Node's thread for 2 ms with the demo's
 * 160 MB, and for some 15 ms for each gigabyte in small pages.
 */ export class Launcher {
    program;
    child;
    launched = new Map();
    lastNumber = 0;
    isClosed = false;
    /** @param program of the launcher, as arguments of Node */ constructor(program){
        this.program = program;
    }
    /** Of the process that starts others; undefined while there is none. */ get processId() {
        return this.child?.pid;
    }
    /** While the service is small, so that no request pays for it. */ open() {
        this.running();
    }
    /** Throws STORE_UNAVAILABLE once it is closed. */ start(program, limits, listener) {
        const child = this.running();
        const number = ++this.lastNumber;
        const exited = new Promise((gone)=>{
            this.launched.set(number, {
                listener,
                gone
            });
        });
        const order = (sent)=>{
            // One that cannot be handed over has no launcher any more, which `exit` says.
            if (this.launched.has(number)) child.send(sent, ()=>undefined);
        };
        order({
            kind: 'start',
            number,
            program,
            limits
        });
        return {
            exited,
            send: (message)=>order({
                    kind: 'send',
                    number,
                    message
                }),
            kill: ()=>order({
                    kind: 'kill',
                    number
                })
        };
    }
    /** With all that it started. */ close() {
        this.isClosed = true;
        this.child?.kill('SIGKILL');
    }
    running() {
        if (this.isClosed) throw lost('it was closed');
        if (this.child !== undefined) return this.child;
        const child = startLimited(this.program, {});
        child.on('message', (reply)=>this.take(reply));
        child.once('error', (cause)=>this.ended(child, cause.message));
        child.once('exit', (code, signal)=>this.ended(child, `it ended with ${signal ?? code}`));
        this.child = child;
        return child;
    }
    take(reply) {
        const entry = this.launched.get(reply.number);
        if (entry === undefined) return;
        if (reply.kind === 'message') {
            entry.listener.onMessage(reply.message);
            return;
        }
        this.launched.delete(reply.number);
        entry.gone();
        entry.listener.onEnd(reply.reason);
    }
    ended(child, how) {
        if (this.child !== child) return;
        this.child = undefined;
        const entries = [
            ...this.launched.values()
        ];
        this.launched.clear();
        for (const { listener, gone } of entries){
            gone();
            listener.onLost(lost(how));
        }
    }
}
function lost(how) {
    const message = `sql: expected a process that starts queries, got none: ${how}; ask again`;
    return new TesseraError('STORE_UNAVAILABLE', message, {
        field: 'sql'
    });
}

//# sourceMappingURL=launcher.js.map