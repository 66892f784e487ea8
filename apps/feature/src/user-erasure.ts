import type { BehaviourLog } from '@tessera/behaviour';
import type { KvFollower } from './kv-follower.js';

export interface ErasureParts {
  readonly behaviours: Pick<BehaviourLog, 'erase'>;
  readonly follower: Pick<KvFollower, 'erase'>;
  /** Number of recorded recalls that went; left out: none are recorded here. */
  readonly eraseRecalls?: ((userId: string) => Promise<number>) | undefined;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

export interface Erased {
  /** Behaviours or a profile were there. */
  readonly known: boolean;
  /** Recorded recalls that went. */
  readonly recalls: number;
}

/** Behaviours, profile, prompts, keys and values, recorded recalls: nothing is left of a user. */
export class UserErasure {
  constructor(private readonly parts: ErasureParts) {}

  /** What others are made from goes first, so that nothing of it comes back behind it. */
  async erase(userId: string): Promise<Erased> {
    const { behaviours, follower, eraseRecalls, nowMs } = this.parts;
    const known = await behaviours.erase(userId, nowMs());
    await follower.erase(userId);
    return { known, recalls: (await eraseRecalls?.(userId)) ?? 0 };
  }
}
