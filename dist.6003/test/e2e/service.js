import { spawn } from "node:child_process";
import { once } from "node:events";
const MAIN = 'dist/apps/standalone/src/main.js';
/** Generous: longer than anything that a test waits for takes on a busy machine. */ const METRIC_WAIT_MS = 90_000;
/** The line of a service that its requests left something behind in. */ const HELD = /held: expected nothing[^"]*/;
const STANDALONE_PRINTED = /Recall for user[\s\S]*\n\s+1 {2}/;
/** The environment of the test run without the service's own variables. */ function cleanEnvironment() {
    const entries = Object.entries(process.env).filter(([name])=>!name.startsWith('TESSERA_'));
    return Object.fromEntries(entries);
}
/** The built standalone app as a child process on free ports. */ export class Service {
    child;
    stdout = '';
    stderr = '';
    httpUrl = '';
    grpcAddress = '';
    /** Whom HTTP is asked as; '': as nobody. */ token = '';
    ended;
    constructor(child){
        this.child = child;
        child.stdout?.on('data', (chunk)=>{
            this.stdout += chunk;
        });
        child.stderr?.on('data', (chunk)=>{
            this.stderr += chunk;
        });
        this.ended = once(child, 'close').then(([status, signal])=>{
            const { stdout, stderr } = this;
            const left = HELD.exec(stdout + stderr);
            if (left !== null) throw new Error(`the service ended, and ${left[0]}`);
            return {
                status,
                signal,
                stdout,
                stderr
            };
        });
    }
    /** Starts without waiting for anything. */ static launch(variables, flags = [], main = MAIN, node = process.execPath) {
        const env = {
            ...cleanEnvironment(),
            TESSERA_HTTP_PORT: '0',
            TESSERA_GRPC_PORT: '0',
            TESSERA_KV_DISK_BYTES: '0',
            // A busy machine is slow, and a recall that is predicted to be late is refused at once.
            TESSERA_RECALL_DEFAULT_DEADLINE_MS: '30000',
            // Services of one machine would not share the folders of the defaults.
            TESSERA_BEHAVIOURS_STORE: 'file',
            TESSERA_INSPECTION_PATH: '',
            TESSERA_CATALOGUE_CHANGES_PATH: '',
            TESSERA_ADAPTERS_PATH: '',
            TESSERA_WEIGHTS_PATH: '',
            ...variables
        };
        return new Service(spawn(node, [
            main,
            ...flags
        ], {
            env
        }));
    }
    /** Starts and waits until it serves and has printed its sample. */ static async start(variables, flags = [], { main, printed = STANDALONE_PRINTED, node } = {}) {
        const service = Service.launch(variables, flags, main, node);
        await service.printed(printed);
        service.httpUrl = /(?:HTTP|health)\s+(https?:\/\/[^/\s]+)/.exec(service.stdout)?.[1] ?? '';
        service.grpcAddress = /gRPC\s+(\S+)/.exec(service.stdout)?.[1] ?? '';
        return service;
    }
    async printed(pattern) {
        const dead = this.ended.then(({ status, stderr })=>{
            throw new Error(`the service ended with ${status}: ${stderr}`);
        });
        dead.catch(()=>undefined);
        while(!pattern.test(this.stdout)){
            await Promise.race([
                once(this.child.stdout, 'data'),
                dead
            ]);
        }
    }
    async post(body, signal, path = '/v1/recall') {
        const reply = await fetch(this.httpUrl + path, {
            method: 'POST',
            headers: {
                'content-type': 'application/json',
                ...this.ownHeaders()
            },
            body: JSON.stringify(body),
            ...signal === undefined ? {} : {
                signal
            }
        });
        return {
            status: reply.status,
            json: await reply.json()
        };
    }
    /** The sum of a metric's samples, or the one sample if it is named with its labels; else 0. */ async metric(name) {
        const reply = await fetch(`${this.httpUrl}/metrics`, {
            headers: this.ownHeaders()
        });
        const text = await reply.text();
        return text.split('\n').filter((line)=>line.startsWith(`${name} `) || line.startsWith(`${name}{`)).reduce((sum, line)=>sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    }
    /** Of whoever asks. */ ownHeaders() {
        return this.token === '' ? {} : {
            authorization: `Bearer ${this.token}`
        };
    }
    /** Asks until the metric has the value; rejects with the last one where it does not get it. */ async metricBecomes(name, value) {
        const end = Date.now() + METRIC_WAIT_MS;
        for(;;){
            const now = await this.metric(name);
            if (now === value) return;
            if (Date.now() > end) throw new Error(`${name}: expected ${value}, it stays at ${now}`);
        }
    }
    /** Of a store or dependency, by its name in /health. */ async stateOf(condition) {
        const reply = await fetch(`${this.httpUrl}/health`);
        const { conditions } = await reply.json();
        return conditions.find(({ name })=>name === condition)?.state;
    }
    /** Resolves once all topics are served. */ async topicsServed() {
        while(await this.stateOf('kafka') !== 'ok');
    }
    async stop() {
        this.child.kill('SIGTERM');
        return this.ended;
    }
}

//# sourceMappingURL=service.js.map