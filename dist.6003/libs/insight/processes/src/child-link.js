import { TesseraError } from "../../../ops/errors/src/index.js";
import { withinMs } from "../../../ops/turns/src/index.js";
import { startLimited } from "./child-limits.js";
import { receivedError } from "./sent-error.js";
/** Calls that wait for their answer at most; further ones are refused. */ const CALLS_MAX = 256;
/** Milliseconds before a process that has ended is started again; doubled up to the largest. */ const RESTART_MS_MIN = 200;
const RESTART_MS_MAX = 30_000;
/** Milliseconds of a close that nothing else bounds. */ export const CLOSE_MS = 8000;
/** Of the milliseconds of a close, those that ending the process by a signal takes. */ const KILL_MS = 500;
/**
 * A process that writes a store, seen from the service: calls that are answered in their order, and
 * a new process when it has ended. Its first call is `open`, its last `close`.
 */ export class ChildLink {
    parts;
    state = 'starting';
    reason = 'the store is being opened';
    child;
    waiting = new Map();
    lastNumber = 0;
    restartMs = RESTART_MS_MIN;
    restart;
    /** Of those who wait for `open` or `closed`. */ listeners = [];
    constructor(parts){
        this.parts = parts;
    }
    /** Resolves once the first process has opened the store, or has failed to. */ start() {
        return this.launch();
    }
    /** '' where the store is open. */ get fault() {
        return this.state === 'open' ? '' : this.reason;
    }
    get isOpen() {
        return this.state === 'open';
    }
    /** The number of the process; undefined where none runs. */ get processId() {
        return this.child?.pid;
    }
    /** Resolves when the store is open; rejects with STORE_UNAVAILABLE once it is closed. */ async untilOpen() {
        while(this.state !== 'open'){
            if (this.state === 'closed') throw this.unavailable();
            await this.untilChange();
        }
    }
    /** Resolves when the store is not open any more. */ async untilDown() {
        while(this.state === 'open')await this.untilChange();
    }
    /**
   * Rejects with what the process rejects with, STORE_UNAVAILABLE where there is none or it ends
   * before its answer, OPERATION_BUSY where too many calls wait.
   */ async call(method, ...values) {
        return await this.callNamed(method, values);
    }
    /** As call(), by a name that is composed. */ async callNamed(method, values) {
        if (this.state !== 'open') throw this.unavailable();
        if (this.waiting.size >= CALLS_MAX) {
            const message = `inspection: expected at most ${CALLS_MAX} calls, got another`;
            throw new TesseraError('OPERATION_BUSY', message, {
                field: 'inspection'
            });
        }
        return this.send(method, values);
    }
    /**
   * Ends the process when `lastCalls` and its own close have been answered, or when the time is
   * over: it does not outlast `budgetMs`.
   */ async close(budgetMs, lastCalls) {
        clearTimeout(this.restart);
        const orderly = async ()=>{
            await lastCalls();
            await this.send('close', []);
        };
        if (this.state === 'open') {
            const work = Promise.race([
                orderly(),
                this.untilDown()
            ]);
            await withinMs(Math.max(0, budgetMs - KILL_MS), work).catch(()=>undefined);
        }
        const { child } = this;
        this.change('closed', 'the store was closed');
        if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
        const ended = new Promise((resolve)=>{
            child.once('exit', ()=>resolve());
        });
        child.kill('SIGKILL');
        await ended;
    }
    async launch() {
        const { program, options, onFault, limits = {} } = this.parts;
        this.change('starting', 'the store is being opened');
        const child = startLimited(program, limits);
        this.child = child;
        child.on('message', (reply)=>this.settle(reply));
        child.once('error', (cause)=>this.ended(child, `it could not be started: ${cause.message}`));
        child.once('exit', (code, signal)=>this.ended(child, `it ended with ${signal ?? code}`));
        try {
            await this.send('open', [
                options
            ]);
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            if (this.state !== 'starting' || this.child !== child) return;
            this.change('down', error.message);
            onFault(error);
            child.kill('SIGKILL');
            return;
        }
        this.restartMs = RESTART_MS_MIN;
        this.change('open', '');
    }
    ended(child, how) {
        if (this.child !== child) return;
        this.child = undefined;
        const reason = `the process that ${this.parts.does} is not there: ${how}`;
        const error = new TesseraError('STORE_UNAVAILABLE', reason);
        for (const { reject } of this.waiting.values())reject(error);
        this.waiting.clear();
        if (this.state === 'closed') return;
        if (this.state !== 'down') {
            this.change('down', reason);
            this.parts.onFault(error);
        }
        this.restart = setTimeout(()=>void this.launch(), this.restartMs);
        this.restart.unref();
        this.restartMs = Math.min(RESTART_MS_MAX, this.restartMs * 2);
    }
    send(method, values) {
        const number = ++this.lastNumber;
        return new Promise((resolve, reject)=>{
            this.waiting.set(number, {
                resolve,
                reject
            });
            const { child } = this;
            if (child === undefined || !child.connected) {
                this.fail(number);
                return;
            }
            child.send({
                number,
                method,
                values
            }, (error)=>{
                if (error !== null) this.fail(number);
            });
        });
    }
    fail(number) {
        this.waiting.get(number)?.reject(this.unavailable());
        this.waiting.delete(number);
    }
    settle(reply) {
        const waiting = this.waiting.get(reply.number);
        this.waiting.delete(reply.number);
        if ('error' in reply) waiting?.reject(receivedError(reply.error));
        else waiting?.resolve(reply.answer);
    }
    unavailable() {
        const message = `inspection.path: expected a store that is open; ${this.reason}`;
        return new TesseraError('STORE_UNAVAILABLE', message, {
            field: 'inspection.path'
        });
    }
    change(state, reason) {
        if (this.state === 'closed') return;
        this.state = state;
        this.reason = reason;
        const { listeners } = this;
        this.listeners = [];
        for (const listener of listeners)listener();
    }
    untilChange() {
        return new Promise((resolve)=>{
            this.listeners.push(resolve);
        });
    }
}

//# sourceMappingURL=child-link.js.map