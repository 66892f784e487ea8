/** Metrics of stores, caches and dependencies. */ import { Counter, Gauge } from "prom-client";
export const STORE_METRICS = {
    condition: {
        name: 'tessera_condition',
        meaning: 'state of a dependency or store, by name and kind: 0 ok, 1 degraded, 2 down; /health has ' + 'the reason'
    },
    spans: {
        name: 'tessera_spans_total',
        meaning: 'spans of traces, by outcome (sent, failed: refused by the collector)'
    },
    diskSpare: {
        name: 'tessera_disk_spare_bytes',
        meaning: 'free bytes above disk.reserveBytes on the disk of a folder, by key of the folder'
    },
    cachesDropped: {
        name: 'tessera_caches_dropped_total',
        meaning: 'damaged caches rebuilt at the start, by cache (snapshot, kv-index)'
    }
};
const CONDITION_LEVEL = {
    ok: 0,
    degraded: 1,
    down: 2
};
/** Read at each scrape. */ export function registerConditions(registry, read) {
    const { name, meaning } = STORE_METRICS.condition;
    new Gauge({
        name,
        help: meaning,
        labelNames: [
            'name',
            'kind'
        ],
        registers: [
            registry
        ],
        collect () {
            for (const { name, kind, state } of read())this.set({
                name,
                kind
            }, CONDITION_LEVEL[state]);
        }
    });
}
/** Read at each scrape. */ export function registerSpans(registry, read) {
    const { name, meaning } = STORE_METRICS.spans;
    new Counter({
        name,
        help: meaning,
        labelNames: [
            'outcome'
        ],
        registers: [
            registry
        ],
        collect () {
            this.reset();
            const { sent, failed } = read();
            this.inc({
                outcome: 'sent'
            }, sent);
            this.inc({
                outcome: 'failed'
            }, failed);
        }
    });
}
/** Read at each scrape. */ export function registerDisks(registry, read) {
    const { name, meaning } = STORE_METRICS.diskSpare;
    new Gauge({
        name,
        help: meaning,
        labelNames: [
            'key'
        ],
        registers: [
            registry
        ],
        async collect () {
            const disks = await read();
            this.reset();
            for (const { key, spareBytes } of disks)this.set({
                key
            }, spareBytes);
        }
    });
}
/** @param caches the name of each that was given up, as often as it was */ export function registerDroppedCaches(registry, caches) {
    const { name, meaning } = STORE_METRICS.cachesDropped;
    const counter = new Counter({
        name,
        help: meaning,
        labelNames: [
            'cache'
        ],
        registers: [
            registry
        ]
    });
    for (const cache of [
        'snapshot',
        'kv-index'
    ])counter.inc({
        cache
    }, 0);
    for (const cache of caches)counter.inc({
        cache
    });
}

//# sourceMappingURL=store-metrics.js.map