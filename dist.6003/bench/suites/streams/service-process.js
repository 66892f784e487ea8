/** A service whose engine is a fixed delay, in a process of its own; its parent tells it when. */ import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openBehaviours, parseRetention } from "../../../libs/service/behaviour/src/index.js";
import { repositoryRoot } from "../../../libs/ops/config/src/index.js";
import { composedRuntime } from "./composed-runtime.js";
import { DelayEngine } from "./delay-engine.js";
import { serveHere } from "./serve-here.js";
const MODEL = join(repositoryRoot, 'models', 'demo');
const RESOLUTION_MS = 1;
const NANOSECONDS_PER_MS = 1e6;
const P99 = 99;
const say = (said)=>process.send?.(said);
/** The work of the process since it was last asked. */ let LoadWatch = class LoadWatch {
    histogram = monitorEventLoopDelay({
        resolution: RESOLUTION_MS
    });
    cpu = process.cpuUsage();
    constructor(){
        this.histogram.enable();
    }
    take() {
        const { user, system } = process.cpuUsage(this.cpu);
        // The histogram holds times between two looks, which are RESOLUTION_MS apart in an idle loop.
        const loopDelayMs = this.histogram.percentile(P99) / NANOSECONDS_PER_MS - RESOLUTION_MS;
        this.cpu = process.cpuUsage();
        this.histogram.reset();
        return {
            cpuUs: user + system,
            loopDelayMs: Math.max(0, loopDelayMs)
        };
    }
};
const { broker, delayMs, store, path, redis } = JSON.parse(process.argv[2] ?? '{}');
const opened = await openBehaviours({
    store,
    path,
    redis,
    keyPrefix: 'bench:',
    retention: parseRetention('*=10000'),
    usersPath: join(MODEL, 'users.json')
}, ()=>undefined);
await opened.takeOverUsers();
const runtime = await composedRuntime({
    modelPath: MODEL,
    engine: new DelayEngine(delayMs),
    behaviours: opened.store,
    ...opened.log && {
        behaviourLog: opened.log
    }
});
const { httpUrl, grpcAddress, drain } = await serveHere(runtime, broker);
const watch = new LoadWatch();
process.on('message', ()=>say({
        load: watch.take()
    }));
// The parent is gone or wants it to end.
process.on('disconnect', ()=>{
    void drain.run().then(()=>process.exit());
});
say({
    serving: {
        httpUrl,
        grpcAddress,
        userIds: await runtime.facts.sampleUserIds(200)
    }
});

//# sourceMappingURL=service-process.js.map