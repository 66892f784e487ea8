import "reflect-metadata";
import { loadConfig } from "../../libs/ops/config/src/index.js";
import { createRecallRuntime } from "../../libs/service/recall/src/index.js";
import { createLog } from "../../libs/ops/telemetry/src/index.js";
import { serve } from "../../apps/standalone/src/serve.js";
const SAMPLE_USERS_MAX = 200;
const NO_TLS = {
    certificatePath: '',
    keyPath: '',
    clientCaPath: ''
};
const HERE = {
    host: '127.0.0.1',
    port: 0,
    ...NO_TLS
};
/**
 * Starts what `npm start` starts, with the given model and catalogue; closed if its edges fail.
 * @param embedding models of texts that are served too, and closed with the rest
 */ export async function startStack(options, deadlineMsMax, embedding) {
    const { config } = loadConfig();
    const runtime = await createRecallRuntime(options);
    try {
        const serving = await serve({
            config: {
                ...config,
                http: {
                    ...config.http,
                    ...HERE
                },
                grpc: {
                    ...config.grpc,
                    ...HERE
                },
                // The command alone calls it.
                access: {
                    ...config.access,
                    mode: 'guarded',
                    tokensPath: ''
                },
                recall: {
                    ...config.recall,
                    deadlineMsMax
                }
            },
            runtime,
            ...embedding !== undefined && {
                embedding
            },
            serviceVersion: 'tools',
            log: createLog('error')
        });
        return {
            grpcAddress: serving.grpcAddress,
            model: runtime.facts.summary.model.digest,
            catalogue: runtime.facts.summary.catalogue.digest,
            sampleUserIds: await runtime.facts.sampleUserIds(SAMPLE_USERS_MAX),
            unknownItems: (itemIds)=>{
                const described = runtime.facts.describe(itemIds);
                return itemIds.filter((_, index)=>described[index] === undefined);
            },
            close: async ()=>{
                await serving.drain.run();
            }
        };
    } catch (error) {
        await runtime.close();
        throw error;
    }
}

//# sourceMappingURL=served-stack.js.map