import type { Drain } from './drain.js';

const EXIT_OK = 0;
const EXIT_FAILED = 1;

/**
 * SIGTERM and SIGINT drain and exit: 0 when every step was done in time, else 1. A second signal
 * exits at once.
 */
export function drainOnStopSignals(drain: Drain, exit: (status: number) => void): void {
  let stopping = false;
  const stop = () => {
    if (stopping) {
      exit(EXIT_FAILED);
      return;
    }
    stopping = true;
    void drain.run().then((reports) => {
      exit(reports.every((report) => report.outcome === 'done') ? EXIT_OK : EXIT_FAILED);
    });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
