import 'reflect-metadata';
import { setTimeout as after } from 'node:timers/promises';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import type { RecallRuntime } from '@tessera/recall';
import { createLog } from '@tessera/telemetry';
import { serve } from '../../../apps/standalone/src/serve.js';

const POLL_MS = 20;
const HOST = '127.0.0.1';

/** The service's edges around a runtime, on free ports; resolves once its topics are served. */
export async function serveHere(runtime: RecallRuntime, broker: string): Promise<Serving> {
  const { config } = loadConfig();
  const serving = await serve({
    config: {
      ...config,
      http: { ...config.http, host: HOST, port: 0 },
      grpc: { ...config.grpc, host: HOST, port: 0 },
      kafka: { ...config.kafka, brokers: broker },
    },
    runtime,
    serviceVersion: 'bench',
    log: createLog('fatal'),
  });
  while (!(await servesAll(serving.httpUrl))) await after(POLL_MS);
  return serving;
}

/** True if all topics are served, where there are any. */
async function servesAll(httpUrl: string): Promise<boolean> {
  const { conditions } = (await (await fetch(`${httpUrl}/health`)).json()) as {
    conditions: readonly { readonly kind: string; readonly state: string }[];
  };
  return conditions.every(({ kind, state }) => kind !== 'dependency' || state === 'ok');
}
