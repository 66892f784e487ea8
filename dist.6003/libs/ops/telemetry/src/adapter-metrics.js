/** Metrics of adapters. */ import { MILLISECONDS_PER_SECOND } from "../../units/src/index.js";
import { Counter, Gauge } from "prom-client";
export const ADAPTER_METRICS = {
    adapterActions: {
        name: 'tessera_adapter_actions_total',
        meaning: 'actions on adapter versions, by action (push, activate, rollback, pin, unpin, ' + 'delete, lost, waits) and code (OK or a code of docs/operate/errors.md)'
    },
    adapterRecalls: {
        name: 'tessera_adapter_recalls_total',
        meaning: 'recalls by answering model (base, active, canary, named: chosen by the request)'
    },
    adapterBytes: {
        name: 'tessera_adapter_bytes',
        meaning: 'bytes of adapters, by place (arena, disk) and kind (used, capacity)'
    },
    adapterCanary: {
        name: 'tessera_adapter_canary',
        meaning: 'answers of current canaries, by name and kind (canaryAnswers, activeAnswers, shadowed)'
    },
    adapterCanaryOverlap: {
        name: 'tessera_adapter_canary_overlap',
        meaning: 'mean share of common items in both answers to shadowed recalls, by name'
    },
    adapterReceived: {
        name: 'tessera_adapter_received_timestamp_seconds',
        meaning: 'Unix time at which the active version was pushed, by name'
    }
};
export function registerAdapterMetrics(registry, read) {
    const registers = [
        registry
    ];
    new Counter({
        name: ADAPTER_METRICS.adapterRecalls.name,
        help: ADAPTER_METRICS.adapterRecalls.meaning,
        labelNames: [
            'arm'
        ],
        registers,
        collect () {
            this.reset();
            for (const [arm, count] of Object.entries(read().recalls))this.inc({
                arm
            }, count);
        }
    });
    new Gauge({
        name: ADAPTER_METRICS.adapterBytes.name,
        help: ADAPTER_METRICS.adapterBytes.meaning,
        labelNames: [
            'place',
            'kind'
        ],
        registers,
        collect () {
            const { arena, disk } = read();
            for (const [place, { usedBytes, maxBytes }] of Object.entries({
                arena,
                disk
            })){
                this.set({
                    place,
                    kind: 'used'
                }, usedBytes);
                this.set({
                    place,
                    kind: 'capacity'
                }, maxBytes);
            }
        }
    });
    new Gauge({
        name: ADAPTER_METRICS.adapterCanary.name,
        help: ADAPTER_METRICS.adapterCanary.meaning,
        labelNames: [
            'name',
            'what'
        ],
        registers,
        collect () {
            this.reset();
            for (const { name, overlap: _, ...counts } of read().canaries){
                for (const [what, count] of Object.entries(counts))this.set({
                    name,
                    what
                }, count);
            }
        }
    });
    new Gauge({
        name: ADAPTER_METRICS.adapterCanaryOverlap.name,
        help: ADAPTER_METRICS.adapterCanaryOverlap.meaning,
        labelNames: [
            'name'
        ],
        registers,
        collect () {
            this.reset();
            for (const { name, overlap } of read().canaries)this.set({
                name
            }, overlap);
        }
    });
    new Gauge({
        name: ADAPTER_METRICS.adapterReceived.name,
        help: ADAPTER_METRICS.adapterReceived.meaning,
        labelNames: [
            'name'
        ],
        registers,
        collect () {
            this.reset();
            for (const { name, receivedMs } of read().active){
                this.set({
                    name
                }, receivedMs / MILLISECONDS_PER_SECOND);
            }
        }
    });
}

//# sourceMappingURL=adapter-metrics.js.map