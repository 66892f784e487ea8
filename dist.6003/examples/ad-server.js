import { parseArgs } from "node:util";
import { DEFAULT_TOPICS, TesseraClient, TopicClient } from "../libs/edge/client/src/index.js";
import { kafkaSecurity, loadConfig } from "../libs/ops/config/src/index.js";
import { TesseraError } from "../libs/ops/errors/src/index.js";
import { CONNECTION_FLAGS, CONNECTION_USAGE, connectionOf, flagsOf } from "./connection.js";
const USAGE = `usage: npm run example:ad-server -- [flags]

Asks which ads to show each of some users, all at once, as an ad server does.
  --users A,B      users (default 1)
  --count N        ads per user (default 3)
  --deadline-ms N  time for each (default 500)
  --address HOST:PORT  the service (default 127.0.0.1:50051)
  --kafka ADDRESS  ask over topics instead
${CONNECTION_USAGE}
`;
const values = flagsOf(()=>parseArgs({
        options: {
            users: {
                type: 'string',
                default: '1'
            },
            count: {
                type: 'string',
                default: '3'
            },
            'deadline-ms': {
                type: 'string',
                default: '500'
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
async function connect() {
    if (values.kafka === undefined) {
        return new TesseraClient(values.address, {
            connection: connectionOf(values)
        });
    }
    // As the service is configured: TESSERA_KAFKA_TLS and so on.
    const security = kafkaSecurity(loadConfig().config);
    return TopicClient.open({
        ...DEFAULT_TOPICS,
        brokers: [
            values.kafka
        ],
        security
    });
}
async function linesOf(recaller, userId) {
    const started = performance.now();
    const took = ()=>`${(performance.now() - started).toFixed(1)} ms`;
    const request = {
        userId,
        resultCount: Number(values.count)
    };
    try {
        const { items, fallback } = await recaller.recall(request, Number(values['deadline-ms']));
        // A user who is new has ads as well, and the page may want to know.
        const madeFrom = fallback === '' ? 'history' : fallback;
        return items.map(({ itemId, score, title })=>[
                userId,
                itemId,
                score.toFixed(3),
                title,
                madeFrom,
                took()
            ].join('  '));
    } catch (thrown) {
        // A page is shown without this answer; what to do next time is in the code.
        const { code, message } = TesseraError.from(thrown);
        process.exitCode = 1;
        return [
            [
                userId,
                code,
                message,
                took()
            ].join('  ')
        ];
    }
}
if (values.help === true) {
    process.stdout.write(USAGE);
} else {
    const recaller = await connect();
    try {
        const users = values.users.split(',');
        const lines = await Promise.all(users.map((userId)=>linesOf(recaller, userId)));
        process.stdout.write(`${lines.flat().join('\n')}\n`);
    } finally{
        await recaller.close();
    }
}

//# sourceMappingURL=ad-server.js.map