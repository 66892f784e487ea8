import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
/** Threads stay on their cores, as this engine's do. */ const PEER_ENVIRONMENT = [
    'OMP_PROC_BIND=true',
    'OMP_PLACES=cores'
];
const TAIL_CHARACTERS = 2000;
/** A peer in a process of its own: a request a line in, an answer a line out. */ export class PeerProcess {
    name;
    child;
    lines;
    complaints = '';
    constructor(name, child){
        this.name = name;
        this.child = child;
        this.lines = createInterface({
            input: child.stdout
        })[Symbol.asyncIterator]();
        child.stderr.setEncoding('utf8').on('data', (text)=>{
            this.complaints = (this.complaints + text).slice(-TAIL_CHARACTERS);
        });
        child.stdin.on('error', ()=>undefined);
    }
    /** Resolves when the peer has loaded its model. */ static async start(name, command, words) {
        const child = spawn('env', [
            ...PEER_ENVIRONMENT,
            command,
            ...words
        ], {
            stdio: [
                'pipe',
                'pipe',
                'pipe'
            ]
        });
        const failed = new Promise((_, reject)=>child.once('error', reject));
        const peer = new PeerProcess(name, child);
        await Promise.race([
            peer.nextLine(),
            failed
        ]);
        return peer;
    }
    ask({ width, tokens }) {
        return this.exchange({
            width,
            tokens: [
                ...tokens
            ]
        });
    }
    /** A line for a line. */ async exchange(asked) {
        this.child.stdin.write(`${JSON.stringify(asked)}\n`);
        return JSON.parse(await this.nextLine());
    }
    async close() {
        if (this.child.exitCode !== null || this.child.signalCode !== null) return;
        const ended = new Promise((resolve)=>this.child.once('close', resolve));
        this.child.stdin.end();
        await ended;
    }
    async nextLine() {
        const { done, value } = await this.lines.next();
        if (done === true) throw new Error(`${this.name} ended: ${this.complaints}`);
        return value;
    }
}

//# sourceMappingURL=peer-process.js.map