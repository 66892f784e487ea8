import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot } from "../../../libs/ops/config/src/index.js";
const MAIN = join('dist', 'apps', 'standalone', 'src', 'main.js');
const SERVING = /Recall for user|the sample recall failed/;
const KIBIBYTE = 1024;
const NANOSECONDS_PER_MS = 1e6;
/** The service as `npm start` runs it, in a process of its own with folders of its own. */ export class ServedProcess {
    child;
    folder;
    httpUrl;
    grpcAddress;
    constructor(child, folder, httpUrl, grpcAddress){
        this.child = child;
        this.folder = folder;
        this.httpUrl = httpUrl;
        this.grpcAddress = grpcAddress;
    }
    /**
   * `keys` are laid over the defaults of the configuration, area by area.
   * @param root checkout whose build is started
   */ static async start(keys, root = repositoryRoot) {
        const folder = mkdtempSync(join(tmpdir(), 'tessera-overload-'));
        const own = {
            http: {
                port: 0
            },
            grpc: {
                port: 0
            },
            behaviours: {
                path: join(folder, 'behaviours')
            },
            catalogue: {
                changesPath: join(folder, 'changes'),
                cachePath: join(folder, 'cache')
            },
            adapters: {
                path: join(folder, 'adapters')
            },
            weights: {
                path: ''
            },
            inspection: {
                path: join(folder, 'inspection')
            },
            kv: {
                path: join(folder, 'kv')
            },
            log: {
                level: 'fatal'
            }
        };
        const config = join(folder, 'config.json');
        const merged = Object.entries({
            ...own,
            ...keys
        }).map(([area, values])=>[
                area,
                {
                    ...own[area],
                    ...values
                }
            ]);
        writeFileSync(config, JSON.stringify(Object.fromEntries(merged)));
        const child = spawn(process.execPath, [
            join(root, MAIN),
            '--config',
            config
        ], {
            cwd: root,
            stdio: [
                'ignore',
                'pipe',
                'inherit'
            ]
        });
        let printed = '';
        await new Promise((resolve, reject)=>{
            child.once('exit', (status)=>reject(new Error(`the service ended with ${status}`)));
            child.stdout?.on('data', (chunk)=>{
                printed += chunk.toString();
                if (SERVING.test(printed)) resolve();
            });
        });
        const address = (pattern)=>pattern.exec(printed)?.[1] ?? '';
        const httpUrl = address(/HTTP\s+(http:\S+)\/v1\/recall/);
        return new ServedProcess(child, folder, httpUrl, address(/gRPC\s+(\S+)\s/));
    }
    get pid() {
        return this.child.pid;
    }
    /** Bytes of memory that the process has now. */ residentBytes() {
        const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
        return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * KIBIBYTE;
    }
    /** Milliseconds of CPU that Node's main thread has taken so far. */ mainThreadMs() {
        const [onCpuNs] = readFileSync(`/proc/${this.pid}/task/${this.pid}/schedstat`, 'utf8').split(' ');
        return Number(onCpuNs) / NANOSECONDS_PER_MS;
    }
    async stop() {
        const exited = once(this.child, 'exit');
        this.child.kill('SIGTERM');
        await exited;
        rmSync(this.folder, {
            recursive: true,
            force: true
        });
    }
}

//# sourceMappingURL=served-process.js.map