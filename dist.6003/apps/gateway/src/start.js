import "reflect-metadata";
import { drainOnStopSignals, serviceVersion } from "../../../libs/ops/lifecycle/src/index.js";
import { openOutput, reportServing } from "../../../libs/ops/telemetry/src/index.js";
import { serve } from "./serve.js";
/** Finds the nodes that the configuration names, and serves before them. */ export async function start(config, isJsonLog) {
    const output = openOutput(config.log.level, isJsonLog);
    const { log, print } = output;
    const { cluster, ...serving } = await serve({
        config,
        log,
        serviceVersion: serviceVersion()
    });
    drainOnStopSignals(serving.drain, (status)=>process.exit(status));
    const { revision, digest } = cluster.table;
    print(`Table ${digest}, revision ${revision}`);
    const owned = cluster.table.ownedCounts();
    for (const [at, { member, state, reason }] of cluster.links().entries()){
        const { name, grpc, http } = member;
        const why = reason === '' ? '' : ` (${reason})`;
        print(`  ${name}  gRPC ${grpc}  HTTP ${http}  ${owned[at]} partitions  ${state}${why}`);
    }
    reportServing(output, {
        HTTP: `${serving.httpUrl}/v1/recall`,
        gRPC: `${serving.grpcAddress}  tessera.recall.v1.RecallService/Recall`,
        cluster: `${serving.httpUrl}/v1/cluster`,
        health: `${serving.httpUrl}/health`,
        metrics: `${serving.httpUrl}/metrics`
    });
}

//# sourceMappingURL=start.js.map