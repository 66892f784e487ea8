import { kafkaSecurity, loadConfig } from "../libs/ops/config/src/index.js";
import { deadLetterTopic, kafkaClient, RECORD_HEADERS, RecordProducer, readTopic, revived } from "../libs/ops/kafka/src/index.js";
import { createLog } from "../libs/ops/telemetry/src/index.js";
import { Flags, print, runCommand } from "./terminal/command.js";
import { table } from "./terminal/table.js";
const USAGE = `usage: npm run dead-letters -- --kafka HOST:PORT --topic TOPIC [--replay]

Lists the records of a topic that could not be served, with reason and position; the next call lists
those written since.
  --topic TOPIC   the topic that they came from, e.g. behaviours
  --replay        put each back on its topic, as it was, and count it as dealt with; not those
                  whose content was left where it lay
TLS and SASL: as the service is configured (TESSERA_KAFKA_TLS and so on).`;
const COLUMNS = [
    {
        name: 'got from'
    },
    {
        name: 'key'
    },
    {
        name: 'bytes',
        right: true
    },
    {
        name: 'code'
    },
    {
        name: 'reason'
    }
];
/** Each way of looking remembers for itself what it has dealt with. */ const GROUPS = {
    list: 'tessera-dead-letters-list',
    replay: 'tessera-dead-letters-replay'
};
function rowOf({ headers, key, value }) {
    const header = (name)=>headers[name]?.toString() ?? '';
    const { topic, partition, offset, code, reason, valueBytes } = RECORD_HEADERS;
    const from = `${header(topic)}/${header(partition)}@${header(offset)}`;
    return [
        from,
        key?.toString() ?? '',
        header(valueBytes) || String(value?.length ?? 0),
        header(code),
        header(reason)
    ];
}
await runCommand(USAGE, async (words)=>{
    const flags = Flags.parse(words, {
        kafka: 'text',
        topic: 'text',
        replay: 'switch'
    });
    const brokers = flags.required('kafka').split(',');
    const security = kafkaSecurity(loadConfig().config);
    const dead = deadLetterTopic(flags.required('topic'));
    const kafka = await kafkaClient({
        clientId: 'tessera-dead-letters',
        brokers,
        security
    }, createLog('silent'));
    const replay = flags.has('replay');
    const producer = new RecordProducer(kafka);
    const rows = [];
    let replayed = 0;
    try {
        const count = await readTopic(kafka, dead, GROUPS[replay ? 'replay' : 'list'], async (letter)=>{
            rows.push(rowOf(letter));
            const alive = replay ? revived(letter) : null;
            if (alive === null) return;
            await producer.send(alive.topic, [
                alive.message
            ]);
            replayed += 1;
        });
        if (rows.length > 0) await print(table(COLUMNS, rows));
        await print(replay ? `${replayed} of ${count} records replayed` : `${count} records listed`);
    } finally{
        await producer.close();
    }
});

//# sourceMappingURL=dead-letters.js.map