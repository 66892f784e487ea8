import { randomUUID } from "node:crypto";
import { protoSchema, recallEventsPackage } from "../../libs/ops/contracts/src/index.js";
import { MessageCodec } from "../../libs/ops/kafka/src/index.js";
import { until } from "../../libs/testing/src/index.js";
import { Kafka, logLevel } from "kafkajs";
const RESPONSES = 'recall.responses';
const DEAD = [
    'recall.requests.dead',
    'behaviours.dead'
];
/** The other end of the topics, which outlives the broker's deaths. */ export class Topics {
    /** By correlation ID, in the order of the topic. */ answers = new Map();
    /** Reasons of records that were buried, by their key. */ dead = new Map();
    seen = new Set();
    codec = new MessageCodec(protoSchema, `${recallEventsPackage}.RecallAnswered`);
    kafka;
    producer;
    consumer;
    constructor(broker){
        this.kafka = new Kafka({
            brokers: [
                broker
            ],
            logLevel: logLevel.NOTHING
        });
        this.producer = this.kafka.producer({
            retry: {
                retries: 1
            }
        });
        this.consumer = this.kafka.consumer({
            groupId: randomUUID(),
            maxWaitTimeInMs: 20,
            retry: {
                restartOnFailure: async ()=>true
            }
        });
    }
    async open() {
        await this.producer.connect();
        await this.consumer.connect();
        await this.consumer.subscribe({
            topics: [
                RESPONSES,
                ...DEAD
            ],
            fromBeginning: true
        });
        await this.consumer.run({
            eachMessage: async ({ topic, partition, message })=>{
                // The same record is read again where the broker died before its offset was kept.
                const place = `${topic}/${partition}/${message.offset}`;
                if (this.seen.has(place)) return;
                this.seen.add(place);
                const { key, value, timestamp, headers = {} } = message;
                if (topic === RESPONSES) {
                    const timeMs = Number(timestamp);
                    const answer = {
                        ...this.codec.decode(value),
                        key: String(key),
                        timeMs
                    };
                    note(this.answers, String(headers['tessera-correlation-id']), answer);
                } else {
                    note(this.dead, String(key), String(headers['tessera-reason']));
                }
            }
        });
    }
    /** Until the broker has them: it may then have them more than once. */ async send(topic, messages) {
        await until(`a broker that takes records of ${topic}`, async ()=>{
            try {
                await this.producer.send({
                    topic,
                    messages
                });
                return true;
            } catch  {
                await this.producer.connect().catch(()=>undefined);
                return false;
            }
        });
    }
    /** Records of a topic that its group has not committed. */ async lag(topic) {
        const admin = this.kafka.admin();
        await admin.connect();
        try {
            const groupId = `tessera.${topic}`;
            const [taken] = await admin.fetchOffsets({
                groupId,
                topics: [
                    topic
                ]
            });
            const ends = await admin.fetchTopicOffsets(topic);
            return ends.reduce((sum, { partition, low, high })=>{
                const at = taken?.partitions.find((one)=>one.partition === partition)?.offset ?? '-1';
                return sum + Number(high) - Math.max(Number(at), Number(low));
            }, 0);
        } finally{
            await admin.disconnect();
        }
    }
    async close() {
        await this.producer.disconnect();
        await this.consumer.disconnect();
    }
}
function note(lists, name, one) {
    lists.set(name, [
        ...lists.get(name) ?? [],
        one
    ]);
}

//# sourceMappingURL=topics.js.map