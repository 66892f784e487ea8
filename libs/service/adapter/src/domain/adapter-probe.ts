import type { ServedAdapter } from './adapter-choice.js';

/** Source of a version's test request: a user that the service knows, or a history. */
export interface ProbeUser {
  readonly userId?: string;
  readonly history?: readonly string[];
}

export interface ProbeAnswer {
  readonly itemIds: readonly string[];
  readonly isShort: boolean;
}

/** How a version is tried where no caller waits: behind all who want answers. */
export interface AdapterProbe {
  /** `adapter` undefined: the base model. Rejects as a recall does. */
  recall(
    user: ProbeUser,
    adapter: ServedAdapter | undefined,
    signal: AbortSignal,
  ): Promise<ProbeAnswer>;
  /** Computes keys and values of a user's history, so that the next recall finds them. */
  warm(userId: string, adapter: ServedAdapter | undefined, signal: AbortSignal): Promise<void>;
  sampleUserIds(count: number): Promise<readonly string[]>;
}
