import { type Config, etcdSecurity } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import type { DrainStep, Readiness } from '@tessera/lifecycle';
import { checkedMembers, Etcd, EtcdRegistration } from '@tessera/routing';

/** The place of this process among the nodes of a cluster; without `cluster.etcd` there is none. */
export class ClusterSeat {
  private readonly registration: EtcdRegistration | undefined;

  constructor(private readonly config: Config) {
    const { etcd, name } = config.cluster;
    if (etcd === '') return;
    this.registration = new EtcdRegistration(new Etcd(etcd, etcdSecurity(config)), name);
  }

  /**
   * Once the edges listen. Rejects with CONFIG_INVALID where another process has the node's name,
   * STORE_UNAVAILABLE where etcd is away.
   */
  async take(serving: Serving, { conditions }: Readiness): Promise<void> {
    const { registration } = this;
    if (registration === undefined) return;
    const { cluster, node } = this.config;
    const [grpc, http] = cluster.advertise.split('/');
    const member = {
      name: node.name,
      grpc: grpc || serving.grpcAddress,
      http: http || new URL(serving.httpUrl).host,
      weight: cluster.weight,
      role: cluster.role,
    };
    checkedMembers([member], 'cluster.advertise');
    await registration.join(member);
    conditions.add({
      name: 'cluster',
      kind: 'dependency',
      isNeeded: false,
      read: () => {
        const { reason } = registration;
        return { state: reason === '' ? 'ok' : 'degraded', reason };
      },
    });
  }

  /** The node says that it goes, so that nobody waits for its lease to end. */
  leaving(budgetMs: number): readonly DrainStep[] {
    const { registration } = this;
    if (registration === undefined) return [];
    return [{ name: 'leave the cluster', budgetMs, act: () => registration.leave() }];
  }
}
