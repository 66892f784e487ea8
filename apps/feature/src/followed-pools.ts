import type { TesseraClient } from '@tessera/client';
import type { RecallRuntime, UserSource } from '@tessera/recall';

const MICROSECONDS_PER_MILLISECOND = 1000;

/** KV pools that follow the behaviours. */
export interface FollowedPools {
  /** False: following this user would come to nothing. */
  mayHold(userId: string): boolean;
  /** Computes what is new of a user's prompt where he is held. */
  append(userId: string, budgetMs: number): Promise<void>;
  /** Forgets a user's prompts, and their keys and values in every tier. */
  erase(userId: string, budgetMs: number): Promise<void>;
}

/** The pool of the engine in this process. */
export class OwnPool implements FollowedPools {
  constructor(private readonly runtime: Pick<RecallRuntime, 'append' | 'forgetUser' | 'kvPool'>) {}

  mayHold(userId: string): boolean {
    return this.runtime.kvPool.holds(userId);
  }

  async append(userId: string, budgetMs: number): Promise<void> {
    const context = {
      signal: new AbortController().signal,
      budgetUs: budgetMs * MICROSECONDS_PER_MILLISECOND,
    };
    await this.runtime.append(requestOf(userId), context);
  }

  erase(userId: string, budgetMs: number): Promise<void> {
    return this.runtime.forgetUser(userId, budgetMs);
  }
}

/** The pools of retrieval processes, over gRPC. Each keeps to the users that it holds. */
export class RemotePools implements FollowedPools {
  constructor(private readonly clients: readonly Pick<TesseraClient, 'keep' | 'dropUser'>[]) {}

  mayHold(): boolean {
    return this.clients.length > 0;
  }

  async append(userId: string, budgetMs: number): Promise<void> {
    const asked = this.clients.map((client) => client.keep({ userId, onlyHeld: true }, budgetMs));
    await Promise.all(asked);
  }

  async erase(userId: string, budgetMs: number): Promise<void> {
    await Promise.all(this.clients.map((client) => client.dropUser(userId, budgetMs)));
  }
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
