import type { TesseraClient } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import type { RecallFacts, RecallServing, UserSource } from '@tessera/recall';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';

/** KV pools that follow the behaviours. */
export interface FollowedPools {
  /** False: following this user would come to nothing. */
  mayHold(userId: string): boolean;
  /** Computes what is new of a user's prompt where the user is held. */
  append(userId: string, budgetMs: number): Promise<void>;
  /** Forgets a user's prompts, and their keys and values in every tier. */
  erase(userId: string, budgetMs: number): Promise<void>;
}

/** The pool of the engine in this process. */
export class OwnPool implements FollowedPools {
  constructor(
    private readonly serving: Pick<RecallServing, 'append' | 'forgetUser'>,
    private readonly facts: Pick<RecallFacts, 'kvPool'>,
  ) {}

  mayHold(userId: string): boolean {
    return this.facts.kvPool.holds(userId);
  }

  async append(userId: string, budgetMs: number): Promise<void> {
    const context = {
      signal: new AbortController().signal,
      budgetUs: budgetMs * MICROSECONDS_PER_MILLISECOND,
    };
    await this.serving.append(requestOf(userId), context);
  }

  erase(userId: string, budgetMs: number): Promise<void> {
    return this.serving.forgetUser(userId, budgetMs);
  }
}

/** A retrieval process. */
export interface RemotePool {
  readonly address: string;
  readonly client: Pick<TesseraClient, 'keep' | 'dropUser'>;
}

/** The pools of retrieval processes, over gRPC. Each keeps to the users that it holds. */
export class RemotePools implements FollowedPools {
  constructor(private readonly pools: readonly RemotePool[]) {}

  mayHold(): boolean {
    return this.pools.length > 0;
  }

  async append(userId: string, budgetMs: number): Promise<void> {
    const asked = this.pools.map(({ client }) => client.keep({ userId, onlyHeld: true }, budgetMs));
    await Promise.all(asked);
  }

  /** Their recorded recalls as well. Rejects naming all that were not reached. */
  async erase(userId: string, budgetMs: number): Promise<void> {
    await eachOf(this.pools, async ({ address, client }) => {
      try {
        await client.dropUser(userId, budgetMs, { withRecords: true });
      } catch (thrown) {
        const { code, message } = TesseraError.from(thrown);
        throw new TesseraError(code, `behaviours.retrieval: ${address}: ${message}`);
      }
    });
  }
}

/** Several pools as one. */
export class AllPools implements FollowedPools {
  constructor(private readonly pools: readonly FollowedPools[]) {}

  mayHold(userId: string): boolean {
    return this.pools.some((pool) => pool.mayHold(userId));
  }

  append(userId: string, budgetMs: number): Promise<void> {
    const held = this.pools.filter((pool) => pool.mayHold(userId));
    return eachOf(held, (pool) => pool.append(userId, budgetMs));
  }

  erase(userId: string, budgetMs: number): Promise<void> {
    return eachOf(this.pools, (pool) => pool.erase(userId, budgetMs));
  }
}

/** Waits for all; rejects with the reasons of those that failed. */
async function eachOf<Pool>(
  pools: readonly Pool[],
  act: (pool: Pool) => Promise<void>,
): Promise<void> {
  const failures: TesseraError[] = [];
  await Promise.all(
    pools.map((pool) =>
      act(pool).catch((thrown: unknown) => {
        failures.push(TesseraError.from(thrown));
      }),
    ),
  );
  const [first] = failures;
  if (first === undefined) return;
  if (failures.length === 1) throw first;
  throw new TesseraError(first.code, failures.map(({ message }) => message).join('; '));
}

function requestOf(userId: string): UserSource {
  return {
    requestId: '',
    userId,
    profile: {},
    scene: {},
    priority: 'low',
    skipUnknownItems: true,
  };
}
