/** Metrics of a process that follows the log of a cluster. */ import { Gauge } from "prom-client";
export const LOG_METRICS = {
    logOffset: {
        name: 'tessera_log_offset',
        meaning: 'newest applied entry of the cluster log'
    },
    logEnd: {
        name: 'tessera_log_end',
        meaning: 'newest known entry of the cluster log'
    }
};
export function registerLogMetrics(registry, read) {
    const gauge = ({ name, meaning: help }, of)=>new Gauge({
            name,
            help,
            registers: [
                registry
            ],
            collect () {
                this.set(read()[of]);
            }
        });
    gauge(LOG_METRICS.logOffset, 'offset');
    gauge(LOG_METRICS.logEnd, 'end');
}

//# sourceMappingURL=log-metrics.js.map