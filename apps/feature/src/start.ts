import 'reflect-metadata';
import type { Config } from '@tessera/config';
import { drainOnStopSignals, refuseCutOff, serviceVersion } from '@tessera/lifecycle';
import { openOutput, reportServing } from '@tessera/telemetry';
import { serve } from './serve.js';
import { warnOfForeignBehaviours } from './store-notices.js';

/** Loads what the configuration names and serves it. */
export async function start(config: Config, isJsonLog: boolean): Promise<void> {
  const output = openOutput(config.log.level, isJsonLog);
  const { log, print } = output;
  await refuseCutOff(config);
  await warnOfForeignBehaviours(config, log);
  const onProgress = (stage: string, done: number, total: number) =>
    log.info({ done, total }, stage);
  const serving = await serve({ config, log, serviceVersion: serviceVersion(), onProgress });
  drainOnStopSignals(serving.drain, (status) => process.exit(status));
  const { store, path } = config.behaviours;
  print(`Behaviours in ${store === 'embedded' ? path : store}`);
  reportServing(output, {
    gRPC: `${serving.grpcAddress}  tessera.behaviour.v1.BehaviourService`,
    health: `${serving.httpUrl}/health`,
    metrics: `${serving.httpUrl}/metrics`,
  });
}
