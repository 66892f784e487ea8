import { setTimeout as after } from 'node:timers/promises';
import type { EngineAnswer, EngineRequest } from '@tessera/engine';
import { FakeEngine } from '@tessera/testing';

/**
 * An engine that computes nothing: every recall has the same answer after a fixed delay. What a
 * service with it cannot serve is the limit of the service itself.
 */
export class DelayEngine extends FakeEngine {
  private prepared: Promise<EngineAnswer> | undefined;

  constructor(private readonly delayMs: number) {
    super({ maxPositions: 4096 });
  }

  override async recall(request: EngineRequest, signal?: AbortSignal): Promise<EngineAnswer> {
    this.prepared ??= super.recall(request, signal);
    const answer = await this.prepared;
    await after(this.delayMs);
    return answer;
  }
}
