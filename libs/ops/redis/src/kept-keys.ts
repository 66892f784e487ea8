import { mastersOf, type RedisClient } from './redis-link.js';

/** How a server keeps the keys of a store of record. */
interface KeyKeeping {
  /** The policy by which it takes keys away that have no expiry; '': it takes none. */
  readonly evictsBy: string;
  /** True if what it acknowledged outlives its process: a log on its disk, or a replica. */
  readonly outlivesProcess: boolean;
}

const KEPT: KeyKeeping = { evictsBy: '', outlivesProcess: true };

/**
 * The worst case of all servers with keys, read by INFO, because many users may not read CONFIG. A
 * line that INFO leaves out counts as kept. Policies `volatile-*` take keys with an expiry alone.
 */
export async function keyKeeping(client: RedisClient): Promise<KeyKeeping> {
  const all = await Promise.all(
    mastersOf(client).map(async (server) => {
      const sections = ['memory', 'persistence', 'replication'].map((name) => server.info(name));
      return keepingIn((await Promise.all(sections)).join('\n'));
    }),
  );
  return all.reduce(
    (worst, one) => ({
      evictsBy: worst.evictsBy || one.evictsBy,
      outlivesProcess: worst.outlivesProcess && one.outlivesProcess,
    }),
    KEPT,
  );
}

function keepingIn(info: string): KeyKeeping {
  const of = (name: string) => new RegExp(`^${name}:(.*?)\\s*$`, 'm').exec(info)?.[1] ?? '';
  const policy = of('maxmemory_policy');
  const evictsBy = policy.startsWith('allkeys') && of('maxmemory') !== '0' ? policy : '';
  const outlivesProcess = of('aof_enabled') !== '0' || Number(of('connected_slaves')) > 0;
  return { evictsBy, outlivesProcess };
}
