import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { DEFAULT_TOPICS, TesseraClient, TopicClient } from "../libs/edge/client/src/index.js";
import { kafkaSecurity, loadConfig } from "../libs/ops/config/src/index.js";
import { CONNECTION_FLAGS, CONNECTION_USAGE, connectionOf, flagsOf } from "./connection.js";
const USAGE = `usage: npm run example:event-producer -- --user ID --items A,B [flags]

Reports what a user did, the last item last.
  --action NAME    (default click)
  --scene key=value, may repeat
  --address HOST:PORT  the service (default 127.0.0.1:50051)
  --kafka ADDRESS  report over the topic instead
${CONNECTION_USAGE}
`;
const DEADLINE_MS = 5000;
const values = flagsOf(()=>parseArgs({
        options: {
            user: {
                type: 'string',
                default: ''
            },
            items: {
                type: 'string',
                default: ''
            },
            action: {
                type: 'string',
                default: 'click'
            },
            scene: {
                type: 'string',
                multiple: true,
                default: []
            },
            address: {
                type: 'string',
                default: '127.0.0.1:50051'
            },
            kafka: {
                type: 'string'
            },
            help: {
                type: 'boolean'
            },
            ...CONNECTION_FLAGS
        }
    }));
async function report() {
    const items = values.items.split(',');
    const now = Date.now();
    const scene = Object.fromEntries(values.scene.map((pair)=>pair.split(/=(.*)/s, 2)));
    // The ID is made where the event is made: a sender that repeats it sends the same ID.
    const behaviours = items.map((itemId, index)=>({
            userId: values.user,
            eventId: randomUUID(),
            itemId,
            action: values.action,
            timeMs: now - (items.length - 1 - index),
            scene
        }));
    if (values.kafka === undefined) {
        const client = new TesseraClient(values.address, {
            connection: connectionOf(values)
        });
        await client.append(behaviours, DEADLINE_MS).finally(()=>client.close());
    } else {
        // As the service is configured: TESSERA_KAFKA_TLS and so on.
        const security = kafkaSecurity(loadConfig().config);
        const client = await TopicClient.open({
            ...DEFAULT_TOPICS,
            brokers: [
                values.kafka
            ],
            security
        });
        await client.append(behaviours).finally(()=>client.close());
    }
    process.stdout.write(`${behaviours.length} behaviours of user ${values.user} reported\n`);
}
if (values.help === true) process.stdout.write(USAGE);
else await report();

//# sourceMappingURL=event-producer.js.map