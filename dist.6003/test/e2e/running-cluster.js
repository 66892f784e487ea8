import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { TesseraClient } from "../../libs/edge/client/src/index.js";
import { loadConfig } from "../../libs/ops/config/src/index.js";
import { temporaryFolder, until } from "../../libs/testing/src/index.js";
import { localPlan } from "../../tools/cluster/local-plan.js";
import { launch, untilReady } from "../../tools/cluster/local-processes.js";
export const DEADLINE_MS = 30_000;
function isFree(port) {
    return new Promise((resolve)=>{
        const server = createServer();
        server.once('error', ()=>resolve(false));
        server.listen(port, '127.0.0.1', ()=>server.close(()=>resolve(true)));
    });
}
/** A port with these behind it free too; below those that the system gives away. */ export async function freePorts(from, steps) {
    for(let port = from + process.pid % 1000 * 8;; port += 7){
        const free = await Promise.all(steps.map((step)=>isFree(port + step)));
        if (free.every(Boolean)) return port;
    }
}
/** `npm run cluster` on free ports, and what tests ask of it. */ export class RunningCluster {
    options;
    command;
    said;
    temporary;
    variables;
    client;
    httpUrl;
    gatewayAddress;
    restarted = [];
    constructor(options, command, said, temporary, /** Of all processes. */ variables){
        this.options = options;
        this.command = command;
        this.said = said;
        this.temporary = temporary;
        this.variables = variables;
        this.httpUrl = `http://127.0.0.1:${options.httpPort}`;
        this.gatewayAddress = `127.0.0.1:${options.grpcPort}`;
        this.client = new TesseraClient(this.gatewayAddress);
    }
    /**
   * @param more.relevance folder of a model that scores texts
   * @param more.isShared a Redis keeps keys and values for all nodes
   * @param more.append nodes beside these that only append
   * @param more.variables of all processes
   */ static async start(nodes, more) {
        const temporary = temporaryFolder({});
        const { append = 0 } = more;
        const steps = Array.from({
            length: nodes + append + 1
        }, (_, step)=>step);
        const httpPort = await freePorts(12_000, [
            ...steps,
            100,
            110,
            111
        ]);
        const grpcPort = await freePorts(22_000, [
            ...steps.map((step)=>step + 9),
            0,
            100
        ]);
        const folder = join(temporary.path, 'cluster');
        const { kafka = '', redis = '', relevance = '', isShared = false } = more;
        const options = {
            nodes,
            append,
            httpPort,
            grpcPort,
            folder,
            etcd: '',
            kafka,
            redis,
            isShared
        };
        const words = Object.entries({
            '--nodes': nodes,
            '--folder': folder,
            '--http-port': httpPort,
            '--grpc-port': grpcPort,
            '--kafka': kafka,
            '--redis': redis
        }).flatMap(([name, value])=>value === '' ? [] : [
                name,
                String(value)
            ]);
        if (isShared) words.push('--shared');
        if (append > 0) words.push('--append', String(append));
        const own = {
            TESSERA_RELEVANCE_PATH: relevance
        };
        const env = Object.assign({}, process.env, own, more.variables);
        const command = spawn(process.execPath, [
            'dist/tools/cluster.js',
            ...words
        ], {
            env
        });
        const said = {
            text: ''
        };
        for (const stream of [
            command.stdout,
            command.stderr
        ]){
            stream.on('data', (chunk)=>{
                said.text += chunk;
            });
        }
        await until('the gateway serves', ()=>{
            if (command.exitCode !== null) throw new Error(said.text);
            return /metrics {2}http/.test(said.text);
        });
        return new RunningCluster(options, command, said, temporary, more.variables ?? {});
    }
    /** A folder for what a test writes. */ get folder() {
        return this.temporary.path;
    }
    /** Output of the command and its gateway. */ get stdout() {
        return this.said.text;
    }
    pidOf(name) {
        const started = [
            ...this.stdout.matchAll(new RegExp(`${name}  pid (\\d+)`, 'g'))
        ];
        return Number(started.at(-1)?.[1]);
    }
    async state(at = this.httpUrl) {
        const reply = await fetch(`${at}/v1/cluster`);
        return (await reply.json()).nodes;
    }
    async node(name) {
        return (await this.state()).find((node)=>node.name === name);
    }
    untilIs(name, state) {
        return until(`${name} is ${state}`, async ()=>(await this.node(name))?.state === state);
    }
    async ownerOf(userId) {
        const headers = {
            'content-type': 'application/json'
        };
        const body = JSON.stringify({
            userId
        });
        const reply = await fetch(`${this.httpUrl}/v1/cluster/route`, {
            method: 'POST',
            headers,
            body
        });
        return (await reply.json()).owner;
    }
    /** By user. */ async owners(userIds) {
        const owners = new Map();
        for (const userId of userIds)owners.set(userId, await this.ownerOf(userId));
        return owners;
    }
    async recalled(userId) {
        const answer = await this.client.recall({
            userId,
            resultCount: 5
        }, DEADLINE_MS);
        const items = answer.items.map(({ itemId, score })=>[
                itemId,
                score
            ]);
        return {
            items: JSON.stringify(items),
            node: answer.versions?.node
        };
    }
    /** Expected answer to every recall of these users, from any node. */ async expectedOf(userIds) {
        const expected = new Map();
        for (const userId of userIds)expected.set(userId, (await this.recalled(userId)).items);
        return expected;
    }
    planOf(name) {
        const plan = localPlan(this.options, loadConfig().config).find((one)=>one.name === name);
        if (plan === undefined) throw new Error(`no ${name}`);
        return {
            ...plan,
            variables: {
                ...this.variables,
                ...plan.variables
            }
        };
    }
    /** Starts a node again, as the command had started it. */ async restart(name) {
        // It may be finishing calls although gateways know that it leaves.
        await until(`the process of ${name} has ended`, ()=>!isRunning(this.pidOf(name)));
        const running = launch(this.planOf(name), false);
        this.restarted.push(running);
        await untilReady(running);
        await this.untilIs(name, 'up');
    }
    /** A second gateway before the same nodes, in the same group of the broker where it has one. */ async secondGateway(more = {}) {
        const [httpPort, grpcPort] = [
            await freePorts(42_000, [
                0
            ]),
            await freePorts(43_000, [
                0
            ])
        ];
        const plan = this.planOf('gateway');
        const own = join(this.folder, `gateway-${grpcPort}`);
        const variables = Object.assign({}, plan.variables, {
            TESSERA_NODE_NAME: 'gateway-2',
            TESSERA_HTTP_PORT: String(httpPort),
            TESSERA_GRPC_PORT: String(grpcPort),
            ...more
        });
        const running = launch(Object.assign({}, plan, {
            folder: own,
            httpPort,
            grpcPort,
            variables
        }), false);
        this.restarted.push(running);
        await untilReady(running);
        const httpUrl = `http://127.0.0.1:${httpPort}`;
        return {
            running,
            httpUrl,
            grpcAddress: `127.0.0.1:${grpcPort}`
        };
    }
    async end() {
        this.client.close();
        for (const { child, ended } of this.restarted){
            child.kill('SIGTERM');
            await ended;
        }
        this.command.kill('SIGTERM');
        if (this.command.exitCode === null) await once(this.command, 'exit');
        this.temporary.remove();
    }
}
function isRunning(pid) {
    try {
        return process.kill(pid, 0);
    } catch  {
        return false;
    }
}

//# sourceMappingURL=running-cluster.js.map