/** Metrics of calls into the engine's library that have threads of their own. */ import { Gauge } from "prom-client";
export const TASK_METRICS = {
    tasks: {
        name: 'tessera_tasks',
        meaning: 'calls by lane (read, write, embed; build, change, erase, check, end) and state ' + '(waiting, running)'
    }
};
export function registerTaskMetrics(registry, read) {
    const { name, meaning } = TASK_METRICS.tasks;
    new Gauge({
        name,
        help: meaning,
        labelNames: [
            'lane',
            'state'
        ],
        registers: [
            registry
        ],
        collect () {
            for (const { lane, waiting, running } of read()){
                this.set({
                    lane,
                    state: 'waiting'
                }, waiting);
                this.set({
                    lane,
                    state: 'running'
                }, running);
            }
        }
    });
}

//# sourceMappingURL=task-metrics.js.map