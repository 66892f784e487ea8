/** Metrics of requests. */ import { Gauge } from "prom-client";
export const HELD_METRICS = {
    heldWhileIdle: {
        name: 'tessera_held_while_idle',
        meaning: 'resources not returned although no request is running, by kind (tickets, ' + 'reservedTickets, inFlight, prefetches, leases, admission, pushBytes); above 0: a leak'
    }
};
export function registerHeld(registry, read) {
    const { name, meaning } = HELD_METRICS.heldWhileIdle;
    new Gauge({
        name,
        help: meaning,
        labelNames: [
            'kind'
        ],
        registers: [
            registry
        ],
        collect () {
            for (const [kind, count] of Object.entries(read()))this.set({
                kind
            }, count);
        }
    });
}

//# sourceMappingURL=held-metric.js.map