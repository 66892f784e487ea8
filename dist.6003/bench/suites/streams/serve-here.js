import "reflect-metadata";
import { setTimeout as after } from "node:timers/promises";
import { loadConfig } from "../../../libs/ops/config/src/index.js";
import { createLog } from "../../../libs/ops/telemetry/src/index.js";
import { serve } from "../../../apps/standalone/src/serve.js";
const POLL_MS = 20;
const HOST = '127.0.0.1';
/** The service's edges around a runtime, on free ports; resolves once its topics are served. */ export async function serveHere(runtime, broker) {
    const { config } = loadConfig();
    const serving = await serve({
        config: {
            ...config,
            http: {
                ...config.http,
                host: HOST,
                port: 0
            },
            grpc: {
                ...config.grpc,
                host: HOST,
                port: 0
            },
            kafka: {
                ...config.kafka,
                brokers: broker
            }
        },
        runtime,
        serviceVersion: 'bench',
        log: createLog('fatal')
    });
    while(!await servesAll(serving.httpUrl))await after(POLL_MS);
    return serving;
}
/** True if all topics are served, where there are any. */ async function servesAll(httpUrl) {
    const { conditions } = await (await fetch(`${httpUrl}/health`)).json();
    return conditions.every(({ kind, state })=>kind !== 'dependency' || state === 'ok');
}

//# sourceMappingURL=serve-here.js.map