/** A cluster that is rolled from a release to this checkout and back under load. */

import { RealCluster } from '../cluster/real-cluster.js';
import type { Course, Kind, Soak } from '../soak/soak.js';
import { previousRelease } from './previous-release.js';
import { RolledLoad } from './rolled-load.js';

const NODES = 3;
const GATEWAYS = 2;
const USERS = 20;
const CALLS_PER_SECOND = 40;
const TOGETHER_MS = 240_000;

export const upgrade: Kind = {
  usage: `
  The release of a git ref, built in a worktree, as ${NODES} nodes and ${GATEWAYS} gateways,
  which are rolled process by process to this checkout and back under recalls and changes.
  Faults: one is lost or wrong.
  --from REF              tag or commit of the previous release
  --calls-per-second N    recalls (default ${CALLS_PER_SECOND})`,
  rounds: 1,
  flags: { from: 'text', 'calls-per-second': 'text' },
  needs: ['etcd', 'redis'],
  start: async (soak) => {
    const ref = soak.flags.required('from');
    const callsPerSecond = soak.flags.integer('calls-per-second', 1, 10_000) ?? CALLS_PER_SECOND;
    const [from, to] = [previousRelease(ref), process.cwd()];
    const cluster = await RealCluster.start({
      nodes: NODES,
      gateways: GATEWAYS,
      root: from,
      // One model for both.
      variables: { TESSERA_MODEL_PATH: `${to}/models/demo` },
      gatewayVariables: { TESSERA_SHUTDOWN_DELAY_MS: '1500' },
    });
    return new Upgrade(soak, cluster, new RolledLoad(soak, cluster, callsPerSecond), from, to);
  },
};

/** In the order of docs/operate/upgrade.md. */
class Upgrade implements Course {
  constructor(
    private readonly soak: Soak,
    private readonly cluster: RealCluster,
    private readonly load: RolledLoad,
    private readonly from: string,
    private readonly to: string,
  ) {}

  async begin(): Promise<void> {
    await this.load.prepare(USERS);
    this.load.start();
  }

  async round(): Promise<void> {
    const { nodes, gateways } = this.cluster;
    await this.roll([...nodes, ...gateways], this.to);
    await this.roll([...gateways, ...nodes], this.from);
  }

  finish(): Promise<void> {
    return this.load.finish();
  }

  async close(): Promise<void> {
    await this.load.end();
    await this.cluster.close();
  }

  /** One process after the other, each when the one before serves again. */
  private async roll(names: readonly string[], root: string): Promise<void> {
    for (const name of names) {
      const ended = await this.cluster.end(name, 'SIGTERM');
      this.cluster.move(name, root);
      await this.cluster.begin(name);
      await this.cluster.untilTogether(TOGETHER_MS);
      this.soak.say(`${name}: ended with ${ended}, serves from ${root}`);
    }
  }
}
