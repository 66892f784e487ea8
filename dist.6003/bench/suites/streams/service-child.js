import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { nextMessage } from "../../next-message.js";
const PROGRAM = fileURLToPath(new URL('./service-process.js', import.meta.url));
/** The service with a stand-in for its engine, as a process beside this one. */ export class ServiceChild {
    child;
    at;
    constructor(child, at){
        this.child = child;
        this.at = at;
    }
    static async start(options) {
        const child = fork(PROGRAM, [
            JSON.stringify(options)
        ]);
        const { serving } = await nextMessage(child);
        return new ServiceChild(child, serving);
    }
    /** Its work since the last call. */ async load() {
        this.child.send('load');
        return (await nextMessage(this.child)).load;
    }
    async stop() {
        const ended = once(this.child, 'exit');
        this.child.disconnect();
        await ended;
    }
}

//# sourceMappingURL=service-child.js.map