import type { SrvRecord } from 'node:dns';
import { resolveSrv } from 'node:dns/promises';
import type { Member } from '../domain/members.js';
import { PolledMembership } from './polled-membership.js';

export type ResolveSrv = (name: string) => Promise<readonly Pick<SrvRecord, 'name' | 'port'>[]>;

/**
 * Milliseconds for which a pod that DNS lists no more stays a member: health decides whether it is
 * asked. A pod that is rolled comes back under its name, and its users' owners stay.
 */
const KEPT_MS = 60_000;

/** Ports by target: existing pods, each under a stable name. */
async function portsOf(resolve: ResolveSrv, name: string): Promise<ReadonlyMap<string, number>> {
  const records = await resolve(name);
  return new Map(records.map(({ name: target, port }) => [target, port]));
}

/**
 * The pods behind a headless service with ports named `grpc` and `http` (Kubernetes, "DNS for
 * Services and Pods", SRV records). A node's name is the first label of its pod's; records have no
 * room for a role, so each node is there for every call.
 */
export function dnsMembership(
  service: string,
  resolve: ResolveSrv = resolveSrv,
  nowMs = () => performance.now(),
  everyMs?: number,
): PolledMembership {
  const seen = new Map<string, { readonly member: Member; readonly atMs: number }>();
  const ask = async () => {
    const [grpc, http] = await Promise.all([
      portsOf(resolve, `_grpc._tcp.${service}`),
      portsOf(resolve, `_http._tcp.${service}`),
    ]);
    const listed = [...grpc].flatMap(([target, port]): Member[] => {
      const httpPort = http.get(target);
      // The two questions may have been answered around a change.
      if (httpPort === undefined) return [];
      const [name = target] = target.split('.');
      return [{ name, grpc: `${target}:${port}`, http: `${target}:${httpPort}`, weight: 1 }];
    });
    const atMs = nowMs();
    for (const member of listed) seen.set(member.name, { member, atMs });
    for (const [name, kept] of seen) if (kept.atMs <= atMs - KEPT_MS) seen.delete(name);
    return [...seen.values()].map(({ member }) => member);
  };
  return new PolledMembership('cluster.dns', ask, everyMs);
}
