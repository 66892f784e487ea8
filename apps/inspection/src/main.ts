import { getPriority, setPriority } from 'node:os';
import { serveFacts } from '@tessera/facts';
import { serveLauncher, serveQuery } from '@tessera/inspection';

/**
 * The processes behind records: `facts` and `launcher`, which the service starts with a
 * channel to it, and `query`, which the launcher starts; each with its niceness.
 */
const KINDS: Readonly<Record<string, (channel: NodeJS.Process) => void>> = {
  facts: serveFacts,
  launcher: serveLauncher,
  query: serveQuery,
};

const [, , name = '', niceness = ''] = process.argv;
const serve = KINDS[name];
if (serve === undefined) throw new Error(`expected facts, launcher or query, got '${name}'`);
// A service that is nicer than that already may not take it back.
setPriority(Math.max(getPriority(), Number(niceness)));
// A terminal interrupts its whole group; the service says when this process ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
serve(process);
