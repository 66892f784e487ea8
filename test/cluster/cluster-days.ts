/**
 * Days of a cluster of real processes: nodes, gateways and the server of its log are killed and
 * held up, disks are emptied and rolled back, while callers change items, erase users and ask for
 * recalls. In the evening all run again, and what every node holds is compared with a model.
 */

import { withinMs } from '@tessera/turns';
import type { Course, Kind, Soak } from '../soak/soak.js';
import { appendIdle, withLog } from './appended-entries.js';
import { ClusterCallers } from './cluster-callers.js';
import { ClusterModel } from './cluster-model.js';
import { DayFaults } from './day-faults.js';
import { type DayParts, erase, recallOn, Writer } from './day-writers.js';
import { RealCluster } from './real-cluster.js';

export interface ClusterDaysOptions {
  readonly nodes: number;
  /** The log is longer than its kept part, from the first day on. */
  readonly isLong: boolean;
}

const GATEWAYS = 2;
const WRITERS = 3;
const RECALLERS = 2;
const USERS_A_DAY = 4;
const FAULTS_A_DAY = 3;
/** Often: what snapshots and trimmed logs do happens on every day. */
const SNAPSHOT_ENTRIES = 50;
/** More than are kept behind a snapshot. */
const IDLE_ENTRIES = 4300;
/** Maximum milliseconds of a fault and of an evening; what takes longer hangs. */
const FAULT_MS_MAX = 80_000;

export const clusterDays = ({ nodes, isLong }: ClusterDaysOptions): Kind => ({
  usage: `
  A day of ${nodes} nodes and ${GATEWAYS} gateways on this machine, whose processes and whose log
  are killed and held up, and whose disks are emptied and rolled back, while items change and
  users are erased. Faults: a node does not come back by itself, or holds other than a model
  says.`,
  rounds: 30,
  needs: ['etcd', 'redis'],
  start: async (soak) => {
    const variables = { TESSERA_CLUSTER_LOG_SNAPSHOT_ENTRIES: String(SNAPSHOT_ENTRIES) };
    const cluster = await RealCluster.start({ nodes, gateways: GATEWAYS, variables });
    return new ClusterDays(soak, cluster, isLong);
  },
});

class ClusterDays implements Course {
  private readonly parts: DayParts;
  private readonly faults: DayFaults;
  private users = 0;

  constructor(
    private readonly soak: Soak,
    private readonly cluster: RealCluster,
    private readonly isLong: boolean,
  ) {
    const { gateways, nodes } = cluster;
    const callers = new ClusterCallers(cluster);
    const endpoints = [...gateways, ...nodes];
    this.parts = { soak, cluster, model: new ClusterModel(), callers, endpoints };
    this.faults = new DayFaults(this.parts);
  }

  async begin(): Promise<void> {
    const { model, callers, cluster } = this.parts;
    if (this.isLong) await appendIdle(cluster, IDLE_ENTRIES);
    await cluster.untilTogether();
    for (const [itemId, state] of await callers.items('node-1')) {
      model.items.set(itemId, { state, doubt: undefined });
    }
  }

  async round(): Promise<void> {
    const { parts, soak, cluster, faults } = this;
    await this.morning();
    let isOver = false;
    const over = () => isOver;
    const working = [
      ...Array.from({ length: WRITERS }, (_, n) => new Writer(parts, `writer ${n}`).write(over)),
      ...Array.from({ length: RECALLERS }, () => recallOn(parts, over)),
    ];
    const drawn = Array.from({ length: FAULTS_A_DAY }, () => soak.random.one(faults.all));
    soak.say(`day ${soak.round}: ${drawn.map(([name]) => name).join(', ')}`);
    for (const [name, make] of drawn) {
      const node = soak.random.one(cluster.nodes);
      await soak.attempt(name, () => withinMs(FAULT_MS_MAX, make(node, over)));
    }
    isOver = true;
    await soak.attempt('evening', async () => {
      await withinMs(FAULT_MS_MAX, Promise.all(working));
      await cluster.untilTogether();
      await withinMs(FAULT_MS_MAX, this.evening());
      const { first } = await withLog(cluster, (log) => log.bounds());
      soak.counts.set('entries trimmed', first - 1);
    });
  }

  async close(): Promise<void> {
    this.parts.callers.close();
    await this.cluster.close();
  }

  /** Users come, and disks are copied. */
  private async morning(): Promise<void> {
    const { cluster, soak } = this;
    const { model, callers } = this.parts;
    for (let n = 0; n < USERS_A_DAY; n += 1) {
      this.users += 1;
      const userId = `user ${this.users}`;
      await callers.begin(soak.random.one(cluster.gateways), userId, this.users);
      model.users.push({ userId, isGoing: false, isErased: false });
      for (const node of cluster.nodes) await callers.recall(node, userId);
    }
    this.faults.copy(soak.random.one(cluster.nodes));
  }

  private async evening(): Promise<void> {
    const { cluster, parts, soak } = this;
    const { model, callers } = parts;
    // Connections of the day may still wait to be tried again, though all processes are up.
    callers.close();
    for (const user of model.users) {
      if (user.isGoing && !user.isErased) await erase(parts, user, cluster.gateways, () => false);
    }
    for (const one of [...cluster.nodes, ...cluster.gateways]) {
      const count = await callers.unawaited(one);
      if (count > 0) soak.fault(`${one}: ${count} failures that nothing awaited`);
    }
    const [first = '', ...others] = cluster.nodes;
    const found = await callers.items(first);
    for (const name of others) {
      const here = JSON.stringify([...(await callers.items(name))].sort());
      if (here !== JSON.stringify([...found].sort())) {
        soak.fault(`${name} and ${first} hold other items`);
      }
    }
    for (const fault of model.settle(found)) soak.fault(fault);
    for (const { userId } of model.users.filter(({ isErased }) => isErased)) {
      for (const node of cluster.nodes) {
        for (const kept of await callers.kept(node, userId)) {
          soak.fault(`kept of an erased user: ${kept}`);
        }
      }
    }
  }
}
