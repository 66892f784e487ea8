import 'reflect-metadata';
import type { Config } from '@tessera/config';
import { drainOnStopSignals, serviceVersion } from '@tessera/lifecycle';
import { openOutput, reportServing } from '@tessera/telemetry';
import { isSpeaker, isWorker, onLeaderStop } from './processes.js';
import { serve } from './serve.js';

/** Finds the nodes that the configuration names, and serves before them. */
export async function start(config: Config, isJsonLog: boolean): Promise<void> {
  const output = openOutput(config.log.level, isJsonLog);
  const { log, print } = output;
  const { cluster, ...serving } = await serve({ config, log, serviceVersion: serviceVersion() });
  const exit = (status: number) => process.exit(status);
  drainOnStopSignals(serving.drain, exit, ...(isWorker ? [onLeaderStop] : []));
  if (!isSpeaker) return;
  const { revision, digest } = cluster.table;
  print(`Table ${digest}, revision ${revision}`);
  const owned = cluster.table.ownedCounts();
  for (const [at, { member, state, reason }] of cluster.links().entries()) {
    const { name, grpc, http } = member;
    const why = reason === '' ? '' : ` (${reason})`;
    print(`  ${name}  gRPC ${grpc}  HTTP ${http}  ${owned[at]} partitions  ${state}${why}`);
  }
  reportServing(output, {
    HTTP: `${serving.httpUrl}/v1/recall`,
    gRPC: `${serving.grpcAddress}  tessera.recall.v1.RecallService/Recall`,
    cluster: `${serving.httpUrl}/v1/cluster`,
    health: `${serving.httpUrl}/health`,
    metrics: `${serving.httpUrl}/metrics`,
  });
}
