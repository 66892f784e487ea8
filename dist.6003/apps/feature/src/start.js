import "reflect-metadata";
import { drainOnStopSignals, serviceVersion } from "../../../libs/ops/lifecycle/src/index.js";
import { openOutput, reportServing } from "../../../libs/ops/telemetry/src/index.js";
import { serve } from "./serve.js";
import { warnOfStores } from "./store-notices.js";
/** Loads what the configuration names and serves it. */ export async function start(config, isJsonLog) {
    const output = openOutput(config.log.level, isJsonLog);
    const { log, print } = output;
    await warnOfStores(config, log, [
        'behaviours'
    ]);
    const onProgress = (stage, done, total)=>log.info({
            done,
            total
        }, stage);
    const serving = await serve({
        config,
        log,
        serviceVersion: serviceVersion(),
        onProgress
    });
    drainOnStopSignals(serving.drain, (status)=>process.exit(status));
    const { store, path } = config.behaviours;
    print(`Behaviours in ${store === 'embedded' ? path : store}`);
    reportServing(output, {
        gRPC: `${serving.grpcAddress}  tessera.behaviour.v1.BehaviourService`,
        health: `${serving.httpUrl}/health`,
        metrics: `${serving.httpUrl}/metrics`
    });
}

//# sourceMappingURL=start.js.map