import type { Drain } from './drain.js';

/** Signals of a supervisor, of a terminal's keys, and of a terminal or session that goes. */
export const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'] as const;

const EXIT_OK = 0;
const EXIT_FAILED = 1;

/** Calls it at every wish that the process ends. */
type StopSource = (stop: () => void) => void;

const bySignals: StopSource = (stop) => {
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
};

/**
 * Signals that end a process by default drain it and exit: 0 when every step was done in time, else
 * 1. A second signal exits at once.
 * @param onStop other wishes than signals
 */
export function drainOnStopSignals(
  drain: Drain,
  exit: (status: number) => void,
  onStop: StopSource = bySignals,
): void {
  let stopping = false;
  onStop(() => {
    if (stopping) {
      exit(EXIT_FAILED);
      return;
    }
    stopping = true;
    void drain.run().then((reports) => {
      exit(reports.every((report) => report.outcome === 'done') ? EXIT_OK : EXIT_FAILED);
    });
  });
}
