import 'reflect-metadata';
import { loadConfig } from '@tessera/config';
import type { EmbeddingModels } from '@tessera/embedding';
import {
  createRecallRuntime,
  type RecallRuntime,
  type RecallRuntimeOptions,
} from '@tessera/recall';
import { createLog } from '@tessera/telemetry';
import { serve } from '../../apps/standalone/src/serve.js';

const SAMPLE_USERS_MAX = 200;
const NO_TLS = { certificatePath: '', keyPath: '', clientCaPath: '' };
const HERE = { host: '127.0.0.1', port: 0, ...NO_TLS };

/** The standalone service on free ports of the loopback interface. */
export interface ServedStack {
  readonly grpcAddress: string;
  readonly model: string;
  readonly catalogue: string;
  readonly catalogueItems: number;
  /** Some users that can be recalled for; empty where the model folder has none. */
  readonly sampleUserIds: readonly string[];
  /** Of these items, those that the catalogue does not have. */
  unknownItems(itemIds: readonly string[]): readonly string[];
  close(): Promise<void>;
}

/**
 * Starts what `npm start` starts, with the given model and catalogue; closed if its edges fail.
 * @param embedding models of texts that are served too, and closed with the rest
 * @param opened the runtime of the options, where it is there already
 */
export async function startStack(
  options: RecallRuntimeOptions,
  deadlineMsMax: number,
  embedding?: EmbeddingModels,
  opened?: RecallRuntime,
): Promise<ServedStack> {
  const { config } = loadConfig();
  const runtime = opened ?? (await createRecallRuntime(options));
  try {
    const serving = await serve({
      config: {
        ...config,
        http: { ...config.http, ...HERE },
        grpc: { ...config.grpc, ...HERE },
        // The command alone calls it.
        access: { ...config.access, mode: 'guarded', tokensPath: '' },
        recall: { ...config.recall, deadlineMsMax },
      },
      runtime,
      ...(embedding !== undefined && { embedding }),
      serviceVersion: 'tools',
      log: createLog('error'),
    });
    return {
      grpcAddress: serving.grpcAddress,
      model: runtime.facts.summary.model.digest,
      catalogue: runtime.facts.summary.catalogue.digest,
      catalogueItems: runtime.facts.summary.catalogue.itemCount,
      sampleUserIds: await runtime.facts.sampleUserIds(SAMPLE_USERS_MAX),
      unknownItems: (itemIds) => {
        const described = runtime.facts.describe(itemIds);
        return itemIds.filter((_, index) => described[index] === undefined);
      },
      close: async () => {
        await serving.drain.run();
      },
    };
  } catch (error) {
    await runtime.close();
    throw error;
  }
}
