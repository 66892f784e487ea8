import { RealCluster } from "../cluster/real-cluster.js";
import { RolledLoad } from "./rolled-load.js";
const NODES = 3;
const GATEWAYS = 2;
const USERS = 20;
const TOGETHER_MS = 240_000;
/** One process after the other, each when the one before serves again. */ async function roll(cluster, names, root, say) {
    for (const name of names){
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
 */ export async function rollThereAndBack({ from, to, callsPerSecond, say }) {
    const cluster = await RealCluster.start({
        nodes: NODES,
        gateways: GATEWAYS,
        log: 'etcd',
        root: from,
        variables: {
            // One model for both.
            TESSERA_MODEL_PATH: `${to}/models/demo`
        },
        gatewayVariables: {
            TESSERA_SHUTDOWN_DELAY_MS: '1500'
        }
    });
    const load = new RolledLoad(cluster, callsPerSecond);
    let counts;
    try {
        await load.prepare(USERS);
        load.start();
        const { nodes, gateways } = cluster;
        await roll(cluster, [
            ...nodes,
            ...gateways
        ], to, say);
        await roll(cluster, [
            ...gateways,
            ...nodes
        ], from, say);
    } finally{
        await load.end();
        counts = load.counts;
        await cluster.close();
    }
    return {
        counts,
        faults: load.faults
    };
}

//# sourceMappingURL=roll.js.map