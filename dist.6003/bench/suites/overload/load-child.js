import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { nextMessage } from "../../next-message.js";
const PROGRAM = fileURLToPath(new URL('./load-process.js', import.meta.url));
/** The generator of load in a process of its own. */ export class LoadChild {
    child = fork(PROGRAM);
    async run(plan) {
        this.child.send(plan);
        return nextMessage(this.child);
    }
    async stop() {
        const ended = once(this.child, 'exit');
        this.child.disconnect();
        this.child.kill();
        await ended;
    }
}

//# sourceMappingURL=load-child.js.map