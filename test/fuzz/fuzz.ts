/**
 * Hostile requests to every route and method of a service. It must answer or refuse each by a code
 * of its own, take over HTTP only what the OpenAPI document allows, and go on serving.
 */

import { join } from 'node:path';
import { TesseraClient } from '@tessera/client';
import { temporaryFolder } from '@tessera/testing';
import { SMALL, writeRandomModel } from '../e2e/random-model.js';
import { Service } from '../e2e/service.js';
import type { Course, Kind, Soak } from '../soak/soak.js';
import { GrpcFuzz } from './grpc-fuzz.js';
import { HostileValues } from './hostile-values.js';
import { HttpFuzz } from './http-fuzz.js';

const CALL_MS = 60_000;

export const fuzz: Kind = {
  usage: `
  Four hostile requests at once, by the grammar of protos and OpenAPI, to any route or method of
  a service on a small random model. Faults: one is taken that the document does not allow, or is
  not refused by a code.`,
  rounds: 5000,
  start,
};

async function start(soak: Soak): Promise<Course> {
  const folder = temporaryFolder({});
  const path = (name: string) => join(folder.path, name);
  const service = await Service.start({
    TESSERA_MODEL_PATH: writeRandomModel(path('model'), SMALL),
    TESSERA_BEHAVIOURS_STORE: 'embedded',
    TESSERA_BEHAVIOURS_PATH: path('behaviours'),
    TESSERA_CATALOGUE_CACHE_PATH: path('cache'),
    TESSERA_CATALOGUE_CHANGES_PATH: path('changes'),
    TESSERA_ADAPTERS_PATH: path('adapters'),
    TESSERA_INSPECTION_PATH: path('inspection'),
    TESSERA_LOG_LEVEL: 'fatal',
  });
  const values = new HostileValues(soak.seed);
  const overGrpc = new GrpcFuzz(service.grpcAddress, values);
  const overHttp = new HttpFuzz(service.httpUrl, values);
  return {
    async round() {
      const batch = [overGrpc, overHttp, overGrpc, overHttp].map((over) =>
        over.send().catch((thrown: Error) => thrown.message),
      );
      for (const fault of await Promise.all(batch)) if (fault !== undefined) soak.fault(fault);
      soak.count('requests', batch.length);
      if (service.child.exitCode !== null) throw new Error(`it ended: ${service.stderr}`);
    },
    async finish() {
      const client = new TesseraClient(service.grpcAddress);
      await client.recall({ history: { itemIds: ['1', '2'] } }, CALL_MS);
      client.close();
    },
    async close() {
      overGrpc.close();
      await service.stop();
      folder.remove();
    },
  };
}
