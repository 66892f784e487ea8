import { RealCluster } from '../cluster/real-cluster.js';
import { type LoadCounts, RolledLoad } from './rolled-load.js';

const NODES = 3;
const GATEWAYS = 2;
const USERS = 20;
const TOGETHER_MS = 240_000;

export interface RollOptions {
  /** Folders of both releases, built. */
  readonly from: string;
  readonly to: string;
  readonly callsPerSecond: number;
  readonly say: (line: string) => void;
}

/** One process after the other, each when the one before serves again. */
async function roll(
  cluster: RealCluster,
  names: readonly string[],
  root: string,
  say: RollOptions['say'],
): Promise<void> {
  for (const name of names) {
    const ended = await cluster.end(name, 'SIGTERM');
    cluster.move(name, root);
    await cluster.begin(name);
    await cluster.untilTogether(TOGETHER_MS);
    say(`${name}: ended with ${ended}, serves from ${root}`);
  }
}

/**
 * Rolls three nodes and two gateways from a release to another and back under load, in the order of
 * docs/operate/upgrade.md.
 */
export async function rollThereAndBack({ from, to, callsPerSecond, say }: RollOptions) {
  const cluster = await RealCluster.start({
    nodes: NODES,
    gateways: GATEWAYS,
    root: from,
    variables: {
      // One model for both.
      TESSERA_MODEL_PATH: `${to}/models/demo`,
    },
    gatewayVariables: { TESSERA_SHUTDOWN_DELAY_MS: '1500' },
  });
  const load = new RolledLoad(cluster, callsPerSecond);
  let counts: LoadCounts;
  try {
    await load.prepare(USERS);
    load.start();
    const { nodes, gateways } = cluster;
    await roll(cluster, [...nodes, ...gateways], to, say);
    await roll(cluster, [...gateways, ...nodes], from, say);
  } finally {
    await load.end();
    counts = load.counts;
    await cluster.close();
  }
  return { counts, faults: load.faults };
}
