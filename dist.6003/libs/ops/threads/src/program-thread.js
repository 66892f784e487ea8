import { Worker } from "node:worker_threads";
import { TesseraError } from "../../errors/src/index.js";
const programOf = (make)=>`
const { parentPort, workerData } = require('node:worker_threads');
const answerOf = (${make})(workerData);
parentPort.on('message', ({ number, asked }) => {
  try {
    parentPort.postMessage({ number, answer: answerOf(asked) });
  } catch (error) {
    parentPort.postMessage({ number, reason: String(error.message) });
  }
});
`;
/**
 * A thread that answers what it is asked, one after the other, so that what takes long keeps Node's
 * own thread from no other call. Its program is text: a file would have another path in each of
 * source, dist/ and its bundles. It keeps the process alive while it is asked something. Owner:
 * whoever made it.
 */ export class ProgramThread {
    name;
    worker;
    waiting = new Map();
    next = 0;
    fault;
    /**
   * @param make JavaScript of a function of `data` that gives the function which answers; it knows
   *   nothing but `require`
   * @param data is copied
   */ constructor(name, make, data){
        this.name = name;
        this.worker = new Worker(programOf(make), {
            eval: true,
            workerData: data,
            name
        });
        this.worker.on('message', (reply)=>this.settle(reply));
        this.worker.on('error', (error)=>this.end(String(error)));
        this.worker.on('exit', (code)=>this.end(`it ended with ${code}`));
        // Last: whoever listens to messages keeps the process alive.
        this.worker.unref();
    }
    /** It has ended, and answers nothing more. */ get isOver() {
        return this.fault !== undefined;
    }
    /** Rejects with an Error of the program's own words, and with INTERNAL where the thread ends. */ ask(asked) {
        if (this.fault !== undefined) return Promise.reject(this.fault);
        const number = this.next;
        this.next += 1;
        return new Promise((resolve, reject)=>{
            this.waiting.set(number, {
                resolve: resolve,
                reject
            });
            this.worker.ref();
            this.worker.postMessage({
                number,
                asked
            });
        });
    }
    settle(reply) {
        const waiting = this.waiting.get(reply.number);
        this.waiting.delete(reply.number);
        if (this.waiting.size === 0) this.worker.unref();
        if ('reason' in reply) waiting?.reject(new Error(reply.reason));
        else waiting?.resolve(reply.answer);
    }
    end(reason) {
        const message = `thread ${this.name}: expected it to answer, got: ${reason}`;
        this.fault ??= new TesseraError('INTERNAL', message);
        for (const { reject } of this.waiting.values())reject(this.fault);
        this.waiting.clear();
    }
}

//# sourceMappingURL=program-thread.js.map