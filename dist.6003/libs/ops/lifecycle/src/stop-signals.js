/** Of a supervisor, of a terminal's keys, and of a terminal or session that goes. */ export const STOP_SIGNALS = [
    'SIGTERM',
    'SIGINT',
    'SIGQUIT',
    'SIGHUP'
];
const EXIT_OK = 0;
const EXIT_FAILED = 1;
/**
 * Signals that end a process by default drain it and exit: 0 when every step was done in time, else
 * 1. A second signal exits at once.
 */ export function drainOnStopSignals(drain, exit) {
    let stopping = false;
    const stop = ()=>{
        if (stopping) {
            exit(EXIT_FAILED);
            return;
        }
        stopping = true;
        void drain.run().then((reports)=>{
            exit(reports.every((report)=>report.outcome === 'done') ? EXIT_OK : EXIT_FAILED);
        });
    };
    for (const signal of STOP_SIGNALS)process.on(signal, stop);
}

//# sourceMappingURL=stop-signals.js.map