/** Metrics of catalogues as they serve. */ import { MILLISECONDS_PER_SECOND } from "../../units/src/index.js";
import { Gauge } from "prom-client";
export const CATALOGUE_METRICS = {
    catalogueItems: {
        name: 'tessera_catalogue_items',
        meaning: "live items, by catalogue ('' is the first)"
    },
    catalogueSequence: {
        name: 'tessera_catalogue_sequence',
        meaning: 'number of the last applied change, by catalogue'
    },
    catalogueLastChange: {
        name: 'tessera_catalogue_last_change_timestamp_seconds',
        meaning: 'Unix time of the last change since the start, or of the start, by catalogue'
    }
};
const OF = {
    catalogueItems: ({ liveItems })=>liveItems,
    catalogueSequence: ({ sequence })=>sequence,
    catalogueLastChange: ({ changedMs })=>changedMs / MILLISECONDS_PER_SECOND
};
/** Read at each scrape. */ export function registerCatalogues(registry, read) {
    for (const key of Object.keys(OF)){
        const { name, meaning: help } = CATALOGUE_METRICS[key];
        new Gauge({
            name,
            help,
            labelNames: [
                'catalogue'
            ],
            registers: [
                registry
            ],
            collect () {
                for (const count of read())this.set({
                    catalogue: count.name
                }, OF[key](count));
            }
        });
    }
}

//# sourceMappingURL=catalogue-metrics.js.map