import { type Asked, DEFAULT_TOPICS, TesseraClient, TopicClient } from '@tessera/client';
import { kafkaSecurity, loadConfig } from '@tessera/config';
import type { WireRecallRequest, WireRecallResponse } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { CONNECTION_FLAGS, CONNECTION_USAGE, connectionOf } from '../tools/served/connection.js';
import { Flags, print, runCommand } from '../tools/terminal/command.js';
import { type Column, table } from '../tools/terminal/table.js';

const USAGE = `usage: npm run example:ad-server -- [flags]

Asks which ads to show each of some users, all at once, as an ad server does.
  --users A,B      users (default 1)
  --count N        ads per user (default 3)
  --deadline-ms N  time for each (default 500)
  --grpc ADDRESS   the service (default 127.0.0.1:50051)
  --kafka ADDRESS  ask over topics instead
${CONNECTION_USAGE}`;

const COLUMNS: readonly Column[] = [
  { name: 'user' },
  { name: 'item' },
  { name: 'score', right: true },
  { name: 'title' },
  { name: 'made from' },
  { name: 'answered in', right: true },
];

/** Either way of asking. */
interface Recaller {
  recall(request: Asked<WireRecallRequest>, deadlineMs: number): Promise<WireRecallResponse>;
  close(): void | Promise<void>;
}

async function connect(flags: Flags): Promise<Recaller> {
  const broker = flags.text('kafka');
  if (broker === undefined) {
    const connection = connectionOf(flags);
    return new TesseraClient(flags.text('grpc') ?? '127.0.0.1:50051', { connection });
  }
  // As the service is configured: TESSERA_KAFKA_TLS and so on.
  const security = kafkaSecurity(loadConfig().config.kafka);
  return TopicClient.open({ ...DEFAULT_TOPICS, brokers: [broker], security });
}

async function rowsOf(recaller: Recaller, userId: string, count: number, deadlineMs: number) {
  const started = performance.now();
  const took = () => `${(performance.now() - started).toFixed(1)} ms`;
  try {
    const { items, fallback } = await recaller.recall({ userId, resultCount: count }, deadlineMs);
    return items.map(({ itemId, score, title }) => [
      userId,
      itemId,
      score.toFixed(3),
      title,
      // A user who is new has ads as well, and the page may want to know.
      fallback === '' ? 'history' : fallback,
      took(),
    ]);
  } catch (thrown) {
    // A page is shown without this answer; what to do next time is in the code.
    const { code, message } = TesseraError.from(thrown);
    return [[userId, '-', '-', `${code}: ${message}`, '-', took()]];
  }
}

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, {
    users: 'list',
    count: 'text',
    'deadline-ms': 'text',
    grpc: 'text',
    kafka: 'text',
    ...CONNECTION_FLAGS,
  });
  const users = (flags.text('users') ?? '1').split(',');
  const count = flags.integer('count', 1, 1000) ?? 3;
  const deadlineMs = flags.integer('deadline-ms', 1, 60_000) ?? 500;
  const recaller = await connect(flags);
  try {
    const rows = await Promise.all(users.map((id) => rowsOf(recaller, id, count, deadlineMs)));
    await print(table(COLUMNS, rows.flat()));
  } finally {
    await recaller.close();
  }
});
