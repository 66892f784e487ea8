import { createLog, type Log, type LogFields, logDestination } from './logger.js';
import { watchRejections } from './process-metrics.js';

const STDOUT = 1;

/** The two voices of a process: its log, and the lines that a person reads while it starts. */
export interface Output {
  readonly log: Log;
  /** Lines for a person; in the log these fields under the message. */
  report(lines: string, fields: LogFields, message: string): void;
  print(line: string): void;
}

/**
 * Lines on the standard output and the log on the standard error; of `isJson` the log alone, which
 * gets failures that nothing awaits too. Call once in a process.
 */
export function openOutput(level: string, isJson: boolean): Output {
  const log = isJson ? createLog(level, logDestination(STDOUT)) : createLog(level);
  watchRejections(log);
  const report: Output['report'] = isJson
    ? (_lines, fields, message) => log.info(fields, message)
    : (lines) => void process.stdout.write(`${lines}\n`);
  return { log, report, print: (line) => report(line, {}, line.trim()) };
}

/** Reports the addresses at which the process serves. */
export function reportServing(
  { report }: Output,
  addresses: Readonly<Record<string, string>>,
): void {
  const width = Math.max(...Object.keys(addresses).map((name) => name.length));
  const rows = Object.entries(addresses).map(([name, at]) => `  ${name.padEnd(width)}  ${at}`);
  report(['\nServing', ...rows].join('\n'), addresses, 'serving');
}
