/** Metrics of the user KV pool. */ import { MICROSECONDS_PER_SECOND } from "../../units/src/index.js";
import { Counter, Gauge } from "prom-client";
export const KV_METRICS = {
    kvBlocks: {
        name: 'tessera_kv_blocks',
        meaning: 'blocks of the user KV pool, by tier (device, host, disk, shared) and kind (used, capacity)'
    },
    kvHitTokens: {
        name: 'tessera_kv_hit_tokens_total',
        meaning: 'prompt tokens found in the KV pool, by tier'
    },
    kvAskedTokens: {
        name: 'tessera_kv_asked_tokens_total',
        meaning: 'prompt tokens looked up in the KV pool'
    },
    kvInexactTokens: {
        name: 'tessera_kv_inexact_tokens_total',
        meaning: 'prompt tokens found in the KV pool after a lossy codec'
    },
    kvInheritedTokens: {
        name: 'tessera_kv_inherited_tokens_total',
        meaning: 'prompt tokens found in the KV pool and computed by an earlier version of the adapter'
    },
    kvInheritedChains: {
        name: 'tessera_kv_inherited_chains_total',
        meaning: 'users whose keys and values were handed to a newer version of the adapter'
    },
    kvBytes: {
        name: 'tessera_kv_bytes_total',
        meaning: 'bytes transferred, by tier and direction (read, written)'
    },
    kvTransferSeconds: {
        name: 'tessera_kv_transfer_seconds_total',
        meaning: 'seconds of transfers, by tier and direction; tessera_kv_bytes_total divided by it is ' + 'the rate'
    },
    kvEvictedBlocks: {
        name: 'tessera_kv_evicted_blocks_total',
        meaning: 'blocks evicted, by tier and kind (kept: still in a lower tier; lost)'
    },
    kvChains: {
        name: 'tessera_kv_chains',
        meaning: 'users and static texts in the KV pool'
    },
    kvChainTokens: {
        name: 'tessera_kv_chain_tokens',
        meaning: 'tokens of these users and texts, over all tiers'
    },
    kvLeases: {
        name: 'tessera_kv_leases',
        meaning: 'requests holding blocks'
    },
    kvLookups: {
        name: 'tessera_kv_lookups_total',
        meaning: 'KV pool lookups'
    },
    kvAppends: {
        name: 'tessera_kv_appends_total',
        meaning: 'commits to the KV pool, by outcome (committed; rematched: another request of the user ' + 'committed first, the rest was appended; lost: it diverged and was dropped)'
    },
    kvRefusals: {
        name: 'tessera_kv_refusals_total',
        meaning: 'refusals of the KV pool, by kind (extend: no free block; prefetch, store: queue full)'
    },
    kvPrefetches: {
        name: 'tessera_kv_prefetches_total',
        meaning: 'prefetches started'
    },
    kvLoadsFailed: {
        name: 'tessera_kv_loads_failed_total',
        meaning: 'blocks that failed to load, by kind (unreadable; corrupt; missing: a shared store has ' + 'forgotten them)'
    },
    kvLooks: {
        name: 'tessera_kv_looks_total',
        meaning: 'users looked for in shared stores, by outcome (found, none)'
    },
    kvLookSeconds: {
        name: 'tessera_kv_look_seconds_total',
        meaning: 'seconds of these looks'
    },
    kvPuts: {
        name: 'tessera_kv_puts_total',
        meaning: 'users put into shared stores, by outcome (kept; changed: another node had been first; ' + 'erased: the user was erased; failed)'
    },
    kvHeadsRefused: {
        name: 'tessera_kv_heads_refused_total',
        meaning: 'users in shared stores whose entry was damaged or of another format'
    },
    kvQueueSeconds: {
        name: 'tessera_kv_queue_seconds_total',
        meaning: 'seconds of work waiting in a queue, by queue (load, store)'
    },
    kvStores: {
        name: 'tessera_kv_stores_total',
        meaning: 'chains stored, by outcome (durable, failed)'
    },
    kvStoreQueue: {
        name: 'tessera_kv_store_queue',
        meaning: 'chains waiting to be stored'
    },
    kvStoring: {
        name: 'tessera_kv_storing',
        meaning: '1 while the disk tier accepts blocks, 0 during an error or with a full disk'
    },
    kvComputeTokenSeconds: {
        name: 'tessera_kv_compute_token_seconds',
        meaning: 'current seconds to compute a token, the alternative to loading it'
    }
};
const M = KV_METRICS;
/** The pool counts by itself; each scrape copies its counts. */ export function registerKvMetrics(registry, counts) {
    const read = oncePerTurn(counts);
    const counter = (metric, labels, series)=>copied(registry, metric, labels, ()=>series(read()));
    const gauge = (metric, labels, series)=>shown(registry, metric, labels, ()=>series(read()));
    gauge(M.kvBlocks, [
        'tier',
        'kind'
    ], (kv)=>byTier(kv, 'kind', (tier)=>({
                used: tier.usedBlocks,
                capacity: tier.capacityBlocks
            })));
    counter(M.kvHitTokens, [
        'tier'
    ], ({ tiers })=>tiers.map(({ tier, hitTokens })=>[
                {
                    tier
                },
                hitTokens
            ]));
    counter(M.kvAskedTokens, [], (kv)=>single(kv.askedTokens));
    counter(M.kvInexactTokens, [], (kv)=>single(kv.inexactTokens));
    counter(M.kvInheritedTokens, [], (kv)=>single(kv.inheritedTokens));
    counter(M.kvInheritedChains, [], (kv)=>single(kv.inheritedChains));
    counter(M.kvBytes, [
        'tier',
        'direction'
    ], (kv)=>byTier(kv, 'direction', (tier)=>({
                read: tier.readBytes,
                written: tier.writtenBytes
            })));
    counter(M.kvTransferSeconds, [
        'tier',
        'direction'
    ], (kv)=>byTier(kv, 'direction', (tier)=>({
                read: tier.readUs / MICROSECONDS_PER_SECOND,
                written: tier.writtenUs / MICROSECONDS_PER_SECOND
            })));
    counter(M.kvEvictedBlocks, [
        'tier',
        'kind'
    ], (kv)=>byTier(kv, 'kind', ({ evictedBlocks, evictedDirtyBlocks })=>({
                kept: evictedBlocks - evictedDirtyBlocks,
                lost: evictedDirtyBlocks
            })));
    registerChainMetrics(counter, gauge);
    registerSharedMetrics(counter);
}
function registerSharedMetrics(counter) {
    counter(M.kvLooks, [
        'outcome'
    ], (kv)=>by('outcome', {
            found: kv.looksFound,
            none: kv.looks - kv.looksFound
        }));
    counter(M.kvLookSeconds, [], (kv)=>single(kv.lookUs / MICROSECONDS_PER_SECOND));
    counter(M.kvPuts, [
        'outcome'
    ], (kv)=>by('outcome', {
            kept: kv.puts,
            changed: kv.putsChanged,
            erased: kv.putsErased,
            failed: kv.putsFailed
        }));
    counter(M.kvHeadsRefused, [], (kv)=>single(kv.headsRefused));
}
function registerChainMetrics(counter, gauge) {
    gauge(M.kvChains, [], (kv)=>single(kv.chains));
    gauge(M.kvChainTokens, [], (kv)=>single(kv.chainTokens));
    gauge(M.kvLeases, [], (kv)=>single(kv.leases));
    counter(M.kvLookups, [], (kv)=>single(kv.lookups));
    counter(M.kvAppends, [
        'outcome'
    ], (kv)=>by('outcome', {
            committed: kv.commits - kv.commitsRematched,
            rematched: kv.commitsRematched,
            lost: kv.commitsLost
        }));
    counter(M.kvRefusals, [
        'kind'
    ], (kv)=>by('kind', {
            extend: kv.refusedExtends,
            prefetch: kv.prefetchesRefused,
            store: kv.storesDropped
        }));
    counter(M.kvPrefetches, [], (kv)=>single(kv.prefetches));
    counter(M.kvLoadsFailed, [
        'kind'
    ], (kv)=>by('kind', {
            unreadable: kv.loadsFailed,
            corrupt: kv.loadsCorrupt,
            missing: kv.loadsMissing
        }));
    counter(M.kvQueueSeconds, [
        'queue'
    ], (kv)=>by('queue', {
            load: kv.loadWaitUs / MICROSECONDS_PER_SECOND,
            store: kv.storeWaitUs / MICROSECONDS_PER_SECOND
        }));
    counter(M.kvStores, [
        'outcome'
    ], (kv)=>by('outcome', {
            durable: kv.stores,
            failed: kv.storesFailed
        }));
    gauge(M.kvStoreQueue, [], (kv)=>single(kv.storeQueue));
    gauge(M.kvStoring, [], (kv)=>single(kv.isStoring));
    gauge(M.kvComputeTokenSeconds, [], (kv)=>single(kv.computeTokenUs / MICROSECONDS_PER_SECOND));
}
/** All metrics of a scrape are collected in one turn of the event loop; the pool is asked once. */ function oncePerTurn(counts) {
    let snapshot;
    return ()=>{
        if (snapshot === undefined) {
            snapshot = counts();
            queueMicrotask(()=>{
                snapshot = undefined;
            });
        }
        return snapshot;
    };
}
function single(value) {
    return [
        [
            {},
            value
        ]
    ];
}
function by(label, values) {
    return Object.entries(values).map(([name, value])=>[
            {
                [label]: name
            },
            value
        ]);
}
function byTier({ tiers }, label, read) {
    return tiers.flatMap((counts)=>Object.entries(read(counts)).map(([name, value])=>[
                {
                    tier: counts.tier,
                    [label]: name
                },
                value
            ]));
}
function copied(registry, { name, meaning }, labelNames, read) {
    new Counter({
        name,
        help: meaning,
        labelNames: [
            ...labelNames
        ],
        registers: [
            registry
        ],
        collect () {
            this.reset();
            for (const [labels, value] of read())this.inc(labels, value);
        }
    });
}
function shown(registry, { name, meaning }, labelNames, read) {
    new Gauge({
        name,
        help: meaning,
        labelNames: [
            ...labelNames
        ],
        registers: [
            registry
        ],
        collect () {
            for (const [labels, value] of read())this.set(labels, value);
        }
    });
}

//# sourceMappingURL=kv-metrics.js.map