import { randomUUID } from 'node:crypto';
import { DEFAULT_TOPICS, TesseraClient, TopicClient } from '@tessera/client';
import { kafkaSecurity, loadConfig } from '@tessera/config';
import { CONNECTION_FLAGS, CONNECTION_USAGE, connectionOf } from '../tools/served/connection.js';
import { Flags, print, runCommand } from '../tools/terminal/command.js';

const USAGE = `usage: npm run example:event-producer -- --user ID --items A,B [flags]

Reports what a user did, the last item last.
  --action NAME    (default click)
  --scene key=value, may repeat
  --grpc ADDRESS   the service (default 127.0.0.1:50051)
  --kafka ADDRESS  report over the topic instead
${CONNECTION_USAGE}`;
const DEADLINE_MS = 5000;

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, {
    user: 'text',
    items: 'list',
    action: 'text',
    scene: 'texts',
    grpc: 'text',
    kafka: 'text',
    ...CONNECTION_FLAGS,
  });
  const items = flags.required('items').split(',');
  const now = Date.now();
  // The ID is made where the event is made: whoever sends it again sends the same ID.
  const behaviours = items.map((itemId, index) => ({
    userId: flags.required('user'),
    eventId: randomUUID(),
    itemId,
    action: flags.text('action') ?? 'click',
    timeMs: now - (items.length - 1 - index),
    scene: flags.pairs('scene'),
  }));
  const broker = flags.text('kafka');
  if (broker === undefined) {
    const connection = connectionOf(flags);
    const client = new TesseraClient(flags.text('grpc') ?? '127.0.0.1:50051', { connection });
    await client.append(behaviours, DEADLINE_MS).finally(() => client.close());
  } else {
    // As the service is configured: TESSERA_KAFKA_TLS and so on.
    const security = kafkaSecurity(loadConfig().config.kafka);
    const client = await TopicClient.open({ ...DEFAULT_TOPICS, brokers: [broker], security });
    await client.append(behaviours).finally(() => client.close());
  }
  print(`${behaviours.length} behaviours of user ${flags.required('user')} reported`);
});
