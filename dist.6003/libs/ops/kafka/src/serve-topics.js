import { kafkaSecurity } from "../../config/src/index.js";
import { BatchServer } from "./batch-server.js";
import { kafkaClient } from "./kafka-client.js";
import { RecordProducer } from "./record-producer.js";
const CLIENT_ID = 'tessera';
/**
 * Of a topic that is made because it is missing, and served at once: one for each of some nodes. An
 * operator who wants others, or more replicas than the broker's default, makes the topic before.
 */ const PARTITIONS = 6;
/** Of the process; @throws TesseraError CONFIG_INVALID for bad files of TLS or SASL */ export function topicSettings(config) {
    const { kafka, cluster, node } = config;
    const { brokers } = kafka;
    const security = kafkaSecurity(config);
    return {
        brokers,
        groupId: cluster.name,
        node: node.name,
        security
    };
}
/** Undefined where no broker is named. Nothing is connected yet. */ export async function serveTopics({ brokers, security = {}, ...settings }, wanted, log) {
    if (brokers === '') return undefined;
    const addresses = brokers.split(',').map((broker)=>broker.trim());
    const client = await kafkaClient({
        clientId: CLIENT_ID,
        brokers: addresses,
        security
    }, log);
    const producer = new RecordProducer(client);
    const partitions = {
        createPartitions: PARTITIONS,
        partitionsAtOnce: PARTITIONS
    };
    const options = {
        ...settings,
        ...wanted,
        ...partitions
    };
    return {
        server: new BatchServer(client, producer, options, log),
        producer
    };
}

//# sourceMappingURL=serve-topics.js.map