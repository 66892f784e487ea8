import { startKafkaBroker, startRedisServer, temporaryFolder } from "../../libs/testing/src/index.js";
import { Service } from "../e2e/service.js";
import { RETENTION } from "./behaviour-model.js";
import { pace } from "./pace.js";
export const STORES = [
    'embedded',
    'redis'
];
const AWAY_MS_MAX = 1500;
/** Disturbances that may make somebody answer twice. */ const CRASHES = new Set([
    'the service is killed and started again',
    'the broker is killed and started again'
]);
/** The service's message when its group has given it up: it was kept waiting for too long. */ const GIVEN_UP = /not aware of this member|generation id is not valid/;
/** Longer than a group waits for the heartbeat of a member. */ const SILENCE_MS = 15_000;
/** Broker, store and service, and what befalls them. */ export class World {
    store;
    broker;
    redis;
    folder;
    random;
    killed = [];
    services = [];
    /** Undefined while there is none to be called. */ service;
    constructor(store, broker, redis, folder, random){
        this.store = store;
        this.broker = broker;
        this.redis = redis;
        this.folder = folder;
        this.random = random;
    }
    static async start(store, random) {
        const broker = await startKafkaBroker();
        const redis = store === 'redis' ? await startRedisServer() : undefined;
        const world = new World(store, broker, redis, temporaryFolder({}), random);
        world.service = await world.startService();
        return world;
    }
    get disturbances() {
        const everywhere = [
            'the service is stopped in order and started again',
            'the service is killed and started again',
            'the broker is killed and started again'
        ];
        // A folder belongs to one process, so that only services on Redis can stand beside each other.
        return this.redis === undefined ? everywhere : [
            ...everywhere,
            'Redis is killed and started again',
            'a second service joins and leaves'
        ];
    }
    async disturb(disturbance) {
        const startMs = Date.now();
        await this.act(disturbance);
        if (CRASHES.has(disturbance)) this.killed.push({
            startMs,
            endMs: Date.now()
        });
    }
    /** Disturbances that were made, and those of a machine that is too busy. */ get crashes() {
        return [
            ...this.killed,
            ...this.evictions
        ];
    }
    get evictions() {
        const lines = this.services.flatMap(({ stderr })=>stderr.split('\n'));
        return lines.filter((line)=>GIVEN_UP.test(line)).map((line)=>{
            const endMs = Date.parse(JSON.parse(line).time);
            return {
                startMs: endMs - SILENCE_MS,
                endMs
            };
        });
    }
    async act(disturbance) {
        if (disturbance === 'the service is stopped in order and started again') {
            await this.endService('SIGTERM');
            this.service = await this.startService();
        } else if (disturbance === 'the service is killed and started again') {
            await this.endService('SIGKILL');
            this.service = await this.startService();
        } else if (disturbance === 'the broker is killed and started again') {
            await this.broker.kill();
            await this.away();
            await this.broker.start();
        } else if (disturbance === 'Redis is killed and started again') {
            await this.redis?.kill();
            await this.away();
            await this.redis?.start();
        } else {
            const second = await this.startService();
            await this.away();
            await stopped(second);
        }
    }
    async stop() {
        if (this.service !== undefined) await stopped(this.service);
        await this.broker.stop();
        await this.redis?.stop();
        this.folder.remove();
    }
    async endService(signal) {
        const { service } = this;
        this.service = undefined;
        if (signal === 'SIGTERM' && service !== undefined) return stopped(service);
        service?.child.kill(signal);
        await service?.ended;
    }
    /** Resolves once it serves its topics. */ async startService() {
        const variables = {
            TESSERA_BEHAVIOURS_STORE: this.store,
            TESSERA_BEHAVIOURS_PATH: `${this.folder.path}/behaviours`,
            TESSERA_BEHAVIOURS_REDIS: this.redis?.address ?? '',
            TESSERA_BEHAVIOURS_RETENTION: RETENTION,
            TESSERA_LOG_LEVEL: 'warn'
        };
        const service = await Service.start(variables, [
            '--kafka',
            this.broker.address
        ]);
        this.services.push(service);
        await service.topicsServed();
        return service;
    }
    away() {
        return pace(this.random.below(AWAY_MS_MAX));
    }
}
/** @throws Error where a drain step failed or took too long */ async function stopped(service) {
    const { status, stderr } = await service.stop();
    if (status !== 0) throw new Error(`the service drained with ${status}: ${stderr}`);
}

//# sourceMappingURL=world.js.map