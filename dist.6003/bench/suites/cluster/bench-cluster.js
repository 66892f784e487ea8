import { join } from "node:path";
import { TesseraClient } from "../../../libs/edge/client/src/index.js";
import { loadConfig } from "../../../libs/ops/config/src/index.js";
import { resolvePort } from "../../../libs/ops/lifecycle/src/index.js";
import { temporaryFolder } from "../../../libs/testing/src/index.js";
import { etcdPortOf, localPlan } from "../../../tools/cluster/local-plan.js";
import { endAll, launch, launchEtcd, untilReady } from "../../../tools/cluster/local-processes.js";
const HOST = '127.0.0.1';
/** A port with so many behind it that nobody has now. */ async function freePorts(count) {
    for(;;){
        const first = await resolvePort(HOST, 0);
        if (first + count > 60_000) continue;
        const all = Array.from({
            length: count
        }, (_, n)=>resolvePort(HOST, first + n));
        const isFree = await Promise.all(all).then(()=>true, ()=>false);
        if (isFree) return first;
    }
}
/** Of all processes, from the first one's on. */ const PORTS = 111;
/** Processes of `npm run cluster`, with what they take of the machine parted between the nodes. */ export class BenchCluster {
    httpUrl;
    grpcAddress;
    running;
    folder;
    client;
    nodeClients;
    constructor(httpUrl, grpcAddress, running, folder){
        this.httpUrl = httpUrl;
        this.grpcAddress = grpcAddress;
        this.running = running;
        this.folder = folder;
        this.client = new TesseraClient(grpcAddress);
        this.nodeClients = running.filter(({ process })=>process.name.startsWith('node-')).map(({ process })=>new TesseraClient(`${HOST}:${process.grpcPort}`));
    }
    /** `environment`: of one process that has all; nodes share it. `more`: of each node. */ static async start(nodes, environment, kafka = '', more = {}) {
        const folder = temporaryFolder({});
        const [httpPort, grpcPort] = [
            await freePorts(PORTS),
            await freePorts(PORTS)
        ];
        const own = {
            nodes,
            httpPort,
            grpcPort,
            folder: join(folder.path, 'cluster')
        };
        const options = Object.assign(own, {
            etcd: '',
            kafka,
            redis: '',
            isShared: false
        });
        const plan = localPlan(options, loadConfig({
            environment
        }).config);
        const running = [];
        try {
            if (kafka === '') {
                running.push(await launchEtcd(join(own.folder, 'log'), etcdPortOf(options)));
            }
            const served = ()=>running.filter(({ process })=>process.name !== 'log');
            for (const one of plan){
                if (one.name === 'gateway') await Promise.all(served().map(untilReady));
                const isNode = one.name.startsWith('node-');
                const variables = Object.assign({}, one.variables, isNode ? more : {});
                running.push(launch(Object.assign({}, one, {
                    variables
                }), false));
            }
            await Promise.all(served().map(untilReady));
        } catch (error) {
            await endAll(running);
            throw error;
        }
        const url = `http://${HOST}:${httpPort}`;
        return new BenchCluster(url, `${HOST}:${grpcPort}`, running, folder);
    }
    async ownerOf(userId) {
        const headers = {
            'content-type': 'application/json'
        };
        const body = JSON.stringify({
            userId
        });
        const url = `${this.httpUrl}/v1/cluster/route`;
        const reply = await fetch(url, {
            method: 'POST',
            headers,
            body
        });
        return (await reply.json()).owner;
    }
    /** HOST:PORT of the nodes' HTTP edges. */ get nodeAddresses() {
        return this.running.filter(({ process })=>process.name.startsWith('node-')).map(({ process })=>`${HOST}:${process.httpPort}`);
    }
    kill(name) {
        this.running.find(({ process })=>process.name === name)?.child.kill('SIGKILL');
    }
    async end() {
        this.client.close();
        for (const client of this.nodeClients)client.close();
        await endAll(this.running);
        this.folder.remove();
    }
}

//# sourceMappingURL=bench-cluster.js.map