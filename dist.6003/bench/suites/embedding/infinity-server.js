import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { PEERS_HOME } from "../../peers/peer-kinds.js";
const MARK = join(PEERS_HOME, 'infinity.installed');
const PROGRAM = join(PEERS_HOME, 'infinity', 'bin', 'infinity_emb');
const NAME = 'bench';
const START_MS = 120_000;
const LOOK_MS = 250;
export const INFINITY_INSTALL = 'node bench/peers/install.mjs infinity';
export const isInfinityInstalled = ()=>existsSync(MARK);
/** infinity's server on the same weights and threads. */ export async function startInfinity(modelPath, threads, say) {
    say('starting infinity');
    const port = await freePort();
    const words = [
        ...[
            'v2',
            '--model-id',
            modelPath,
            '--served-model-name',
            NAME,
            '--engine',
            'torch'
        ],
        ...[
            '--device',
            'cpu',
            '--dtype',
            'float32',
            '--no-bettertransformer',
            '--no-model-warmup'
        ],
        ...[
            '--host',
            '127.0.0.1',
            '--port',
            String(port),
            '--log-level',
            'error'
        ]
    ];
    const threadCount = String(threads);
    const variables = [
        ...[
            `OMP_NUM_THREADS=${threadCount}`,
            `MKL_NUM_THREADS=${threadCount}`
        ],
        ...[
            'DO_NOT_TRACK=1',
            'HF_HUB_OFFLINE=1'
        ]
    ];
    const stdio = [
        'ignore',
        'ignore',
        'inherit'
    ];
    const child = spawn('env', [
        ...variables,
        PROGRAM,
        ...words
    ], {
        stdio: [
            ...stdio
        ]
    });
    const agent = new Agent({
        keepAlive: true
    });
    const ask = (text)=>post(agent, port, {
            model: NAME,
            input: text
        });
    const close = async ()=>{
        agent.destroy();
        if (child.exitCode !== null) return;
        child.kill();
        await once(child, 'exit');
    };
    try {
        await untilAnswered(()=>ask('w9'), child);
    } catch (error) {
        await close();
        throw error;
    }
    return {
        name: 'infinity, HTTP',
        ask,
        close
    };
}
async function untilAnswered(ask, child) {
    const started = performance.now();
    for(;;){
        try {
            await ask();
            return;
        } catch (error) {
            if (child.exitCode !== null || performance.now() - started > START_MS) throw error;
        }
        await pause(LOOK_MS);
    }
}
async function freePort() {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    await once(server, 'close');
    return port;
}
function post(agent, port, body) {
    return new Promise((resolve, reject)=>{
        const headers = {
            'content-type': 'application/json'
        };
        const asked = {
            agent,
            host: '127.0.0.1',
            port,
            path: '/embeddings',
            method: 'POST',
            headers
        };
        const sent = request(asked, (reply)=>{
            reply.resume();
            reply.on('error', reject);
            reply.on('end', ()=>{
                if (reply.statusCode === 200) resolve();
                else reject(new Error(`infinity answers ${reply.statusCode}`));
            });
        });
        sent.on('error', reject);
        sent.end(JSON.stringify(body));
    });
}

//# sourceMappingURL=infinity-server.js.map