import 'reflect-metadata';
import type { Config } from '@tessera/config';
import { drainOnStopSignals, serviceVersion } from '@tessera/lifecycle';
import { createLog } from '@tessera/telemetry';
import { serve } from './serve.js';
import { warnOfStores } from './store-notices.js';

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Loads what the configuration names and serves it. */
export async function start(config: Config): Promise<void> {
  const log = createLog(config.log.level);
  await warnOfStores(config, log, ['behaviours']);
  const onProgress = (stage: string, done: number, total: number) =>
    log.info({ done, total }, stage);
  const serving = await serve({ config, log, serviceVersion: serviceVersion(), onProgress });
  drainOnStopSignals(serving.drain, (status) => process.exit(status));
  const { store, path } = config.behaviours;
  print(`Behaviours in ${store === 'embedded' ? path : store}`);
  print('Serving');
  print(`  gRPC     ${serving.grpcAddress}  tessera.behaviour.v1.BehaviourService`);
  print(`  health   ${serving.httpUrl}/health`);
  print(`  metrics  ${serving.httpUrl}/metrics`);
}
