import type { SrvRecord } from 'node:dns';
import { resolveSrv } from 'node:dns/promises';
import type { Member } from '../domain/members.js';
import { PolledMembership } from './polled-membership.js';

export type ResolveSrv = (name: string) => Promise<readonly Pick<SrvRecord, 'name' | 'port'>[]>;

/** By target: the pods that are ready, each under a name of its own that it keeps. */
async function portsOf(resolve: ResolveSrv, name: string): Promise<ReadonlyMap<string, number>> {
  const records = await resolve(name);
  return new Map(records.map(({ name: target, port }) => [target, port]));
}

/**
 * The pods behind a headless service with ports named `grpc` and `http` (Kubernetes, "DNS for
 * Services and Pods", SRV records). A node's name is the first label of its pod's; records have no
 * room for a role, so each node is there for every call.
 */
export function dnsMembership(service: string, resolve: ResolveSrv = resolveSrv): PolledMembership {
  return new PolledMembership('cluster.dns', async () => {
    const [grpc, http] = await Promise.all([
      portsOf(resolve, `_grpc._tcp.${service}`),
      portsOf(resolve, `_http._tcp.${service}`),
    ]);
    return [...grpc].flatMap(([target, port]): Member[] => {
      const httpPort = http.get(target);
      // The two questions may have been answered around a change.
      if (httpPort === undefined) return [];
      const [name = target] = target.split('.');
      return [{ name, grpc: `${target}:${port}`, http: `${target}:${httpPort}`, weight: 1 }];
    });
  });
}
