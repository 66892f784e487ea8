/**
 * Hostile requests to every route and method of a service. It must answer or refuse each by a code
 * of its own, take over HTTP only what the OpenAPI document allows, and go on serving.
 */ import { join } from "node:path";
import { TesseraClient } from "../../libs/edge/client/src/index.js";
import { temporaryFolder } from "../../libs/testing/src/index.js";
import { Random } from "../../bench/models/random.js";
import { SMALL, writeRandomModel } from "../e2e/random-model.js";
import { Service } from "../e2e/service.js";
import { GrpcFuzz } from "./grpc-fuzz.js";
import { HostileValues } from "./hostile-values.js";
import { HttpFuzz } from "./http-fuzz.js";
/** Requests under way at once. */ const TOGETHER = 4;
const CALL_MS = 60_000;
/** Faults of one kind are one fault. */ const FAULTS_MAX = 200;
/** Faults of so many requests; the same seed draws the same. */ export async function fuzz(seed, requests, say = ()=>undefined) {
    const folder = temporaryFolder({});
    const path = (name)=>join(folder.path, name);
    const service = await Service.start({
        TESSERA_MODEL_PATH: writeRandomModel(path('model'), SMALL),
        TESSERA_BEHAVIOURS_STORE: 'embedded',
        TESSERA_BEHAVIOURS_PATH: path('behaviours'),
        TESSERA_CATALOGUE_CACHE_PATH: path('cache'),
        TESSERA_CATALOGUE_CHANGES_PATH: path('changes'),
        TESSERA_ADAPTERS_PATH: path('adapters'),
        TESSERA_INSPECTION_PATH: path('inspection'),
        TESSERA_LOG_LEVEL: 'fatal'
    });
    const values = new HostileValues(new Random(seed));
    const overGrpc = new GrpcFuzz(service.grpcAddress, values);
    const overHttp = new HttpFuzz(service.httpUrl, values);
    const client = new TesseraClient(service.grpcAddress);
    const faults = [];
    try {
        for(let sent = 0; sent < requests && faults.length < FAULTS_MAX; sent += TOGETHER){
            const batch = Array.from({
                length: TOGETHER
            }, (_, at)=>(at % 2 === 0 ? overGrpc : overHttp).send().catch((thrown)=>thrown.message));
            for (const fault of (await Promise.all(batch)))if (fault !== undefined) faults.push(fault);
            if (service.child.exitCode !== null) throw new Error(`it ended: ${service.stderr}`);
            if (sent % 10_000 < TOGETHER) say(`${sent} requests: ${faults.length} faults`);
        }
        await client.recall({
            history: {
                itemIds: [
                    '1',
                    '2'
                ]
            }
        }, CALL_MS);
        return faults;
    } finally{
        client.close();
        overGrpc.close();
        await service.stop();
        folder.remove();
    }
}

//# sourceMappingURL=fuzz.js.map