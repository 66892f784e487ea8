import 'reflect-metadata';
import type { Config } from '@tessera/config';
import { drainOnStopSignals, serviceVersion } from '@tessera/lifecycle';
import { createLog } from '@tessera/telemetry';
import { serve } from './serve.js';

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Finds the nodes that the configuration names, and serves before them. */
export async function start(config: Config): Promise<void> {
  const log = createLog(config.log.level);
  const { cluster, ...serving } = await serve({ config, log, serviceVersion: serviceVersion() });
  drainOnStopSignals(serving.drain, (status) => process.exit(status));
  const { revision, digest } = cluster.table;
  print(`Table ${digest}, revision ${revision}`);
  const owned = cluster.table.ownedCounts();
  for (const [at, { member, state, reason }] of cluster.links().entries()) {
    const { name, grpc, http } = member;
    const why = reason === '' ? '' : ` (${reason})`;
    print(`  ${name}  gRPC ${grpc}  HTTP ${http}  ${owned[at]} partitions  ${state}${why}`);
  }
  print('Serving');
  print(`  HTTP     ${serving.httpUrl}/v1/recall`);
  print(`  gRPC     ${serving.grpcAddress}  tessera.recall.v1.RecallService/Recall`);
  print(`  cluster  ${serving.httpUrl}/v1/cluster`);
  print(`  health   ${serving.httpUrl}/health`);
  print(`  metrics  ${serving.httpUrl}/metrics`);
}
