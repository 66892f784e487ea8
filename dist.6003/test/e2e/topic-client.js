import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Kafka, logLevel } from "kafkajs";
import protobuf from "protobufjs";
/** Messages by the proto files themselves, independent of the generated code. */ const root = new protobuf.Root();
root.resolvePath = (_origin, target)=>join('proto', target);
root.loadSync([
    'tessera/recall/events/v1/recall_event.proto',
    'tessera/behaviour/events/v1/behaviour_event.proto',
    'tessera/catalogue/events/v1/catalogue_event.proto'
]);
const REQUESTED = root.lookupType('tessera.recall.events.v1.RecallRequested');
const ANSWERED = root.lookupType('tessera.recall.events.v1.RecallAnswered');
const AUDITED = root.lookupType('tessera.recall.events.v1.RecallAudited');
const CHANGED = root.lookupType('tessera.catalogue.events.v1.CatalogueChanged');
const BEHAVIOUR = root.lookupType('tessera.behaviour.events.v1.BehaviourEvent');
export const encodeRequest = (message)=>Buffer.from(REQUESTED.encode(REQUESTED.fromObject(message)).finish());
export const encodeBehaviour = (behaviour)=>Buffer.from(BEHAVIOUR.encode(BEHAVIOUR.fromObject({
        behaviour
    })).finish());
export const encodeChanges = (changes, catalogue = '')=>Buffer.from(CHANGED.encode(CHANGED.fromObject({
        changes,
        catalogue
    })).finish());
/** An ad server on topics: asks, and waits for what bears its correlation ID. */ export class TopicClient {
    /** Answers by correlation ID, in the order of their arrival. */ answers = new Map();
    dead = [];
    audits = [];
    kafka;
    producer;
    consumer;
    constructor(address){
        this.kafka = new Kafka({
            brokers: [
                address
            ],
            logLevel: logLevel.NOTHING
        });
        this.producer = this.kafka.producer();
        this.consumer = this.kafka.consumer({
            groupId: randomUUID(),
            maxWaitTimeInMs: 20
        });
    }
    /** The topics are there: the service made them. */ async open() {
        await this.producer.connect();
        await this.consumer.connect();
        const topics = [
            'recall.responses',
            'recall.audits',
            'recall.requests.dead',
            'behaviours.dead'
        ].concat('catalogue.changes.dead');
        await this.consumer.subscribe({
            topics,
            fromBeginning: true
        });
        await this.consumer.run({
            eachMessage: async ({ topic, message: { key, value, headers = {} } })=>{
                if (topic === 'recall.audits') {
                    const audited = AUDITED.decode(value);
                    this.audits.push(AUDITED.toObject(audited, {
                        defaults: true,
                        longs: Number
                    }));
                    return;
                }
                if (topic !== 'recall.responses') {
                    const reason = String(headers['tessera-reason']);
                    this.dead.push({
                        topic,
                        reason,
                        code: String(headers['tessera-code'])
                    });
                    return;
                }
                const id = String(headers['tessera-correlation-id']);
                const answered = ANSWERED.toObject(ANSWERED.decode(value), {
                    defaults: true
                });
                const list = this.answers.get(id) ?? [];
                list.push({
                    ...answered,
                    key: String(key)
                });
                this.answers.set(id, list);
            }
        });
    }
    async send(topic, message) {
        await this.sendAll(topic, [
            message
        ]);
    }
    async sendAll(topic, messages) {
        await this.producer.send({
            topic,
            messages
        });
    }
    /** Asks for a recall; gives its correlation ID. */ async ask(request, over = {}) {
        const id = randomUUID();
        const { deadlineTimeMs, ...message } = over;
        const value = encodeRequest({
            request,
            ...deadlineTimeMs === undefined ? {} : {
                deadlineTimeMs
            }
        });
        const headers = {
            'tessera-correlation-id': id,
            ...over.headers
        };
        const key = String(request.userId ?? '');
        await this.send('recall.requests', {
            key,
            value,
            ...message,
            headers
        });
        return id;
    }
    async close() {
        await this.producer.disconnect();
        await this.consumer.disconnect();
    }
}

//# sourceMappingURL=topic-client.js.map