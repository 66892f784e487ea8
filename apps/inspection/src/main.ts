import { setPriority } from 'node:os';
import { serveLauncher, serveQuery, serveRecorder } from '@tessera/inspection';

/**
 * The processes behind the inspection store: `recorder NICENESS` and `launcher NICENESS`, which the
 * service starts with a channel to it, and `query NICENESS`, which the launcher starts.
 */
const KINDS: Readonly<Record<string, (channel: NodeJS.Process) => void>> = {
  recorder: serveRecorder,
  launcher: serveLauncher,
  query: serveQuery,
};

const [, , name = '', niceness = ''] = process.argv;
const serve = KINDS[name];
if (serve === undefined) throw new Error(`expected recorder, launcher or query, got '${name}'`);
setPriority(Number(niceness));
// A terminal interrupts its whole group; the service says when this process ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
serve(process);
