import type { TesseraClient } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import type { RecallServing, UserSource } from '@tessera/recall';
import {
  failureOfCode,
  isOfRole,
  type NodeRole,
  partitionOf,
  RoutingTable,
} from '@tessera/routing';
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
    readonly mayHold: (userId: string) => boolean,
  ) {}

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
  readonly role: NodeRole;
  readonly client: Pick<TesseraClient, 'keep' | 'dropUser'>;
}

/**
 * The pools of retrieval processes, over gRPC. Each keeps to the users that it holds; those that
 * only append compute for everybody, and one of them is asked for each user.
 */
export class RemotePools implements FollowedPools {
  /** Routing table of the pools that only append, by their addresses. */
  private readonly table: RoutingTable;

  constructor(private readonly pools: readonly RemotePool[]) {
    const own = pools.filter(({ role }) => role === 'append');
    const members = own.map(({ address }) => {
      return { name: address, grpc: address, http: address, weight: 1 };
    });
    this.table = new RoutingTable(
      members.sort((a, b) => (a.name < b.name ? -1 : 1)),
      1,
    );
  }

  mayHold(): boolean {
    return this.pools.length > 0;
  }

  /**
   * Appends at the other pools, which keep to their users, where no pool that only appends answers.
   */
  async append(userId: string, budgetMs: number): Promise<void> {
    const request = { userId, onlyHeld: true };
    const order = this.table.order(partitionOf(userId));
    for (const node of order) {
      const pool = this.poolAt(this.table.members[node]?.name);
      const failed = await pool?.client.keep(request, budgetMs).then(() => undefined, asError);
      if (failed === undefined) return;
      if (failureOfCode(failed.code) === 'final') throw failed;
    }
    const others = this.pools.filter(({ role }) => role !== 'append');
    const appending = others.filter((pool) => isOfRole(pool, 'append'));
    const asked = appending.length > 0 ? appending : others;
    await Promise.all(asked.map(({ client }) => client.keep(request, budgetMs)));
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

  private poolAt(address: string | undefined): RemotePool | undefined {
    return this.pools.find((pool) => pool.address === address);
  }
}

const asError = (thrown: unknown) => TesseraError.from(thrown);

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
