import { setPriority } from 'node:os';
import { serveQuery, serveRecorder } from '@tessera/inspection';

/**
 * Both kinds of process behind the inspection store, started by the service with a channel to it:
 * `recorder NICENESS` and `query NICENESS`.
 */
const KINDS: Readonly<Record<string, (channel: NodeJS.Process) => void>> = {
  recorder: serveRecorder,
  query: serveQuery,
};

const [, , name = '', niceness = ''] = process.argv;
const serve = KINDS[name];
if (serve === undefined) throw new Error(`expected recorder or query, got '${name}'`);
setPriority(Number(niceness));
// A terminal interrupts its whole group; the service says when this process ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
serve(process);
