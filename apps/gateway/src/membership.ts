import { type Config, etcdSecurity } from '@tessera/config';
import { expecting } from '@tessera/errors';
import { Etcd } from '@tessera/etcd';
import {
  dnsMembership,
  etcdMembership,
  type Membership,
  type OwnerOf,
  parseMembers,
  StaticMembership,
} from '@tessera/routing';

const invalid = expecting('CONFIG_INVALID');

/**
 * Where this gateway knows its nodes from.
 * @throws TesseraError CONFIG_INVALID unless exactly one source is named
 */
export function membershipOf(
  { cluster, peer }: Pick<Config, 'cluster' | 'peer'>,
  ownerOf: OwnerOf,
): Membership {
  const { nodes, etcd, dns, name } = cluster;
  const named = Object.entries({ nodes, etcd, dns }).filter(([, value]) => value !== '');
  if (named.length !== 1) {
    const got = named.map(([key]) => `cluster.${key}`).join(' and ');
    const expected = 'one of cluster.nodes, cluster.etcd and cluster.dns';
    throw invalid('cluster', expected, got === '' ? 'none' : got);
  }
  if (nodes !== '') return new StaticMembership(parseMembers(nodes));
  if (dns !== '') return dnsMembership(dns);
  return etcdMembership(new Etcd(etcd, etcdSecurity({ cluster, peer })), name, ownerOf);
}

/** Nodes that a gateway should have: those of the list, or the number said; undefined: unknown. */
export function nodesWanted({ cluster }: Pick<Config, 'cluster'>): number | undefined {
  const { nodes, nodesWanted: said } = cluster;
  return nodes === '' ? said || undefined : parseMembers(nodes).length;
}
