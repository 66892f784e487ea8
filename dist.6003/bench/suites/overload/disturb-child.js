import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { nextMessage } from "../../next-message.js";
const PROGRAM = fileURLToPath(new URL('./disturb-process.js', import.meta.url));
/** Statements that each take all that they may have: time, memory, memory again, disk. */ export const HOSTILE = [
    'SELECT count(*) FROM range(10000000) a, range(10000000) b',
    "SELECT rpad('x', 1500000000, 'y') IS NULL",
    "SELECT length(repeat('ab', 2000000000))",
    "SELECT * FROM range(30000000) t(x) ORDER BY hash(x), repeat('x', 40)"
];
export const CHECKERS = 8;
/**
 * Disturbers of recalls, in a process of their own: in that of the caller whose recalls are timed
 * their own work would be measured as the service's.
 */ export class DisturbChild {
    child = fork(PROGRAM);
    begin(httpUrl) {
        this.child.send({
            kind: 'begin',
            httpUrl
        });
    }
    async end() {
        this.child.send({
            kind: 'end'
        });
        return nextMessage(this.child);
    }
    async stop() {
        const ended = once(this.child, 'exit');
        this.child.kill();
        await ended;
    }
}

//# sourceMappingURL=disturb-child.js.map