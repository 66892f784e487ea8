/** Which program runs: joined with other metrics by `instance`. */ import { Gauge } from "prom-client";
export const BUILD_METRICS = {
    buildInfo: {
        name: 'tessera_build_info',
        meaning: '1, by version of the service, app (standalone, gateway, feature) and Node version'
    }
};
export function registerBuild(registry, { version, app }) {
    const { name, meaning: help } = BUILD_METRICS.buildInfo;
    const labelNames = [
        'version',
        'app',
        'node_version'
    ];
    const gauge = new Gauge({
        name,
        help,
        labelNames,
        registers: [
            registry
        ]
    });
    gauge.set({
        version,
        app,
        node_version: process.versions.node
    }, 1);
}

//# sourceMappingURL=build-metrics.js.map