import { join } from 'node:path';
import { TesseraClient } from '@tessera/client';
import type { WireRecallResponse } from '@tessera/contracts';
import { temporaryFolder } from '@tessera/testing';
import type { ModelShape } from '../../models/model-shape.js';
import { servedModel } from '../../models/served-model.js';
import { DEMO_USERS_FILE, demoUserIds } from '../../suites/overload/demo-users.js';
import { ServedProcess } from '../../suites/overload/served-process.js';

export const CALL_MS = 60_000;

export interface ServeSetting {
  /** As engine.device has it. */
  readonly device: string;
  readonly shape: ModelShape;
  /** Duration of each load. */
  readonly seconds: number;
  readonly say: (line: string) => void;
}

/** A real service on the device, asked over gRPC. */
export class CardService {
  private constructor(
    private readonly keys: Readonly<Record<string, object>>,
    private process: ServedProcess,
    public client: TesseraClient,
    readonly modelPath: string,
    /** Where sets of weights for it lie. */
    readonly weightsPath: string,
  ) {}

  /** Starts, does the work and stops, whatever happens in between. */
  static async with<T>(
    { device, shape, say }: ServeSetting,
    work: (service: CardService) => Promise<T>,
  ): Promise<T> {
    const folder = temporaryFolder({});
    const modelPath = servedModel(shape, say);
    const keys = {
      model: { path: modelPath, computeType: 'bf16' },
      users: { path: DEMO_USERS_FILE },
      engine: { device },
      weights: { path: join(folder.path, 'weights') },
    };
    say(`${shape.name}: starting a service on ${device}`);
    try {
      const started = await ServedProcess.start(keys);
      const client = new TesseraClient(started.grpcAddress);
      const service = new CardService(keys, started, client, modelPath, keys.weights.path);
      try {
        return await work(service);
      } finally {
        service.client.close();
        await service.process.stop();
      }
    } finally {
      folder.remove();
    }
  }

  get address(): string {
    return this.process.grpcAddress;
  }

  recall(userId = userIds[0] as string): Promise<WireRecallResponse> {
    return this.client.recall({ userId, resultCount: 50 }, CALL_MS);
  }

  /** `kill -9`, and a start over the same stores. */
  async killAndStart(): Promise<void> {
    const { folder } = this.process;
    await this.process.kill();
    this.client.close();
    this.process = await ServedProcess.start(this.keys, undefined, folder);
    this.client = new TesseraClient(this.process.grpcAddress);
  }
}

export const userIds = demoUserIds();

/** Items with the bits of their scores, and the weights that gave them. */
export function contentOf({ items, versions }: WireRecallResponse): string {
  return JSON.stringify([
    versions?.model,
    versions?.adapter,
    items.map(({ itemId, score }) => [itemId, score]),
  ]);
}

/** @throws Error where it does not hold */
export function expectThat(what: string, holds: boolean): void {
  if (!holds) throw new Error(`a service on the device: expected ${what}`);
}

export async function secondsOf<T>(
  act: () => Promise<T>,
): Promise<readonly [seconds: number, result: T]> {
  const begun = performance.now();
  const result = await act();
  return [(performance.now() - begun) / 1000, result];
}
