import { type Behaviour, BehaviourStore, type UserBehaviours } from '@tessera/behaviour';
import { StoreBreaker, type StoreReach } from '@tessera/breaker';
import type { TesseraClient } from '@tessera/client';
import type { WireBehaviour } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';

/**
 * Milliseconds that the feature process has to answer, repetitions included: a share of what a
 * request has left, so that one with time to spare is not refused for a slow moment of either
 * process, and one without finds the store away as soon as ever.
 */
const ANSWER_MS_MIN = 1000;
const ANSWER_MS_MAX = 10_000;
const ANSWER_SHARE = 0.25;

/** Asked for to see that the process answers. */
const NOBODY = 'nobody';

export function answerMs(budgetMs: number): number {
  return Math.min(Math.max(budgetMs * ANSWER_SHARE, ANSWER_MS_MIN), ANSWER_MS_MAX);
}

export interface RemoteBehavioursParts {
  readonly client: Pick<TesseraClient, 'history'>;
  /** For messages. */
  readonly address: string;
}

/**
 * Users' behaviours from the feature process over gRPC. Rejects with STORE_UNAVAILABLE
 * where it does not answer.
 */
export class RemoteBehaviours extends BehaviourStore {
  readonly userCount = null;
  private readonly breaker: StoreBreaker;

  constructor(private readonly parts: RemoteBehavioursParts) {
    super();
    this.breaker = new StoreBreaker(`the feature process at ${parts.address}`, {
      probe: () => this.askedUser(NOBODY, 1, ANSWER_MS_MIN),
    });
  }

  async history(userId: string, limit: number): Promise<readonly Behaviour[] | null> {
    return (await this.user(userId, limit))?.behaviours ?? null;
  }

  async profile(userId: string): Promise<Readonly<Record<string, string>> | null> {
    return (await this.user(userId, 1))?.profile ?? null;
  }

  override reach(): StoreReach {
    return this.breaker.read();
  }

  override user(userId: string, limit: number, budgetMs = 0): Promise<UserBehaviours | null> {
    return this.breaker.call(() => this.askedUser(userId, limit, answerMs(budgetMs)));
  }

  private async askedUser(userId: string, limit: number, waitMs: number) {
    const { client, address } = this.parts;
    try {
      const { behaviours, profile } = await client.history(userId, limit, waitMs);
      return { behaviours: behaviours.map(behaviourOf), profile };
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (error.code === 'USER_NOT_FOUND') return null;
      if (!error.retryable && error.code !== 'CANCELLED') throw error;
      const message = `behaviours.remote: ${address}: ${error.message}`;
      throw new TesseraError('STORE_UNAVAILABLE', message, { cause: error });
    }
  }

  /** Not asked for over the wire. */
  async userIds(): Promise<readonly string[]> {
    return [];
  }
}

function behaviourOf({ itemId, action, timeMs }: WireBehaviour): Behaviour {
  return { itemId, action, time: timeMs / MILLISECONDS_PER_SECOND };
}
