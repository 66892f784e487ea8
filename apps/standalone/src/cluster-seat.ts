import { type Config, followsLog } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import type { NodeKey } from '@tessera/etcd';
import type { Serving } from '@tessera/hosting';
import type { DrainStep, Readiness } from '@tessera/lifecycle';
import { checkedMembers, joinMembers, leaveMembers } from '@tessera/routing';

/** The place of this process among the nodes of a cluster; without `cluster.etcd` there is none. */
export class ClusterSeat {
  constructor(
    private readonly config: Config,
    private readonly nodeKey: NodeKey | undefined,
  ) {}

  /**
   * Once the edges listen. Rejects with CONFIG_INVALID where another process has the node's name;
   * where etcd is away, the node takes its place when it is back.
   */
  async take(serving: Serving, { conditions }: Readiness): Promise<void> {
    const { nodeKey } = this;
    if (nodeKey === undefined) return;
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
    await joinMembers(nodeKey, member).catch((thrown: unknown) => {
      if (TesseraError.from(thrown).code !== 'STORE_UNAVAILABLE') throw thrown;
    });
    conditions.add({
      name: 'cluster',
      kind: 'dependency',
      isNeeded: false,
      read: () => {
        const { reason } = nodeKey;
        return { state: reason === '' ? 'ok' : 'degraded', reason };
      },
    });
  }

  /** The node says that it goes, so that nobody waits for its lease to end. */
  leaving(budgetMs: number): readonly DrainStep[] {
    const { nodeKey } = this;
    if (nodeKey === undefined) return [];
    // A log in etcd holds the same key until the node follows it no longer.
    const leave = () => (followsLog(this.config) ? leaveMembers(nodeKey) : nodeKey.leave());
    return [{ name: 'leave the cluster', budgetMs, act: () => leave().catch(() => undefined) }];
  }
}
