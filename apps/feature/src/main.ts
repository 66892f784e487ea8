import 'reflect-metadata';
import { FLAG_LINES } from '@tessera/config';
import { runProcess, serviceVersion } from '@tessera/hosting';
import { drainOnStopSignals } from '@tessera/lifecycle';
import { createLog } from '@tessera/telemetry';
import { serve } from './serve.js';

const USAGE = `usage: npm run feature -- [flags]
Behaviours in over gRPC and Kafka, histories out over gRPC: the feature app as a process of its own.
${FLAG_LINES}
Every key and its variable: docs/configuration.md`;

const print = (line: string) => process.stdout.write(`${line}\n`);

runProcess(USAGE, async ({ config }) => {
  const log = createLog(config.log.level);
  const onProgress = (stage: string, done: number, total: number) =>
    log.info({ done, total }, stage);
  const serving = await serve({ config, log, serviceVersion: serviceVersion(), onProgress });
  drainOnStopSignals(serving.drain, (status) => process.exit(status));
  print('Serving');
  print(`  gRPC     ${serving.grpcAddress}  tessera.behaviour.v1.BehaviourService`);
  print(`  health   ${serving.httpUrl}/health`);
  print(`  metrics  ${serving.httpUrl}/metrics`);
});
