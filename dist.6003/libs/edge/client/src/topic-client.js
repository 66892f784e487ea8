import { randomUUID } from "node:crypto";
import { behaviourEventsPackage, catalogueEventsPackage, protoSchema, recallEventsPackage } from "../../../ops/contracts/src/index.js";
import { isErrorCode, TesseraError } from "../../../ops/errors/src/index.js";
import { loadKafka, MessageCodec, RECORD_HEADERS, securedBy } from "../../../ops/kafka/src/index.js";
const PAYLOAD_VERSION = '1';
const FETCH_WAIT_MS = 20;
/** The service refuses late requests itself; its refusal has this long to arrive. */ const REFUSAL_GRACE_MS = 2000;
export const DEFAULT_TOPICS = {
    requestsTopic: 'recall.requests',
    responsesTopic: 'recall.responses',
    behavioursTopic: 'behaviours',
    changesTopic: 'catalogue.changes'
};
/**
 * Tessera over Kafka: asks on one topic and waits on the other. Every client reads all responses,
 * as a group of its own, and takes those that bear its correlation IDs.
 */ export class TopicClient {
    options;
    producer;
    consumer;
    waiting = new Map();
    requests = codec(recallEventsPackage, 'RecallRequested');
    answers = codec(recallEventsPackage, 'RecallAnswered');
    events = codec(behaviourEventsPackage, 'BehaviourEvent');
    changes = codec(catalogueEventsPackage, 'CatalogueChanged');
    constructor(kafka, options){
        this.options = options;
        this.producer = kafka.producer({
            allowAutoTopicCreation: false
        });
        this.consumer = kafka.consumer({
            groupId: `tessera-client-${randomUUID()}`,
            maxWaitTimeInMs: FETCH_WAIT_MS,
            allowAutoTopicCreation: false
        });
    }
    /** Rejects when no broker answers or the topics are not there. */ static async open(options) {
        const { Kafka, logLevel } = await loadKafka();
        const { brokers, security } = options;
        const own = {
            brokers: [
                ...brokers
            ],
            ...securedBy(security)
        };
        const kafka = new Kafka({
            ...own,
            logLevel: logLevel.NOTHING
        });
        const client = new TopicClient(kafka, options);
        await client.producer.connect();
        await client.consumer.connect();
        await client.consumer.subscribe({
            topic: options.responsesTopic,
            fromBeginning: false
        });
        // Where the newest response lies is found out by the first fetch, not when the group is joined:
        // an answer that arrives in between would never be read.
        const fetched = new Promise((resolve)=>{
            client.consumer.on(client.consumer.events.FETCH, resolve);
        });
        await client.consumer.run({
            eachMessage: async ({ message })=>client.take(message)
        });
        await fetched;
        return client;
    }
    /** Rejects with the code of a refusal, or DEADLINE_EXCEEDED when none arrives in time. */ async recall(request, deadlineMs) {
        const id = randomUUID();
        const requested = {
            request,
            deadlineTimeMs: Date.now() + deadlineMs
        };
        const answered = this.answerTo(id, deadlineMs + REFUSAL_GRACE_MS);
        const message = {
            key: request.userId ?? '',
            value: this.requests.encode(requested),
            headers: {
                [RECORD_HEADERS.correlationId]: id,
                [RECORD_HEADERS.version]: PAYLOAD_VERSION
            }
        };
        const { requestsTopic: topic } = this.options;
        const sent = this.producer.send({
            topic,
            messages: [
                message
            ]
        }).catch((thrown)=>{
            this.waiting.get(id)?.fail(unavailable(thrown));
        });
        const [{ response, refusal }] = await Promise.all([
            answered,
            sent
        ]);
        if (response !== undefined) return response;
        throw refusedBy(refusal);
    }
    /** Resolves when every replica has them. May be repeated: an event ID counts once. */ async append(behaviours) {
        const messages = behaviours.map((behaviour)=>({
                key: behaviour.userId,
                value: this.events.encode({
                    behaviour
                }),
                headers: {
                    [RECORD_HEADERS.version]: PAYLOAD_VERSION
                }
            }));
        await this.send(this.options.behavioursTopic, messages);
    }
    /**
   * One message: its changes are applied all or none. Resolves when every replica has it. Messages
   * of one key stay in order: an item's changes need one key.
   */ async change(key, changes, catalogue = '') {
        const value = this.changes.encode({
            catalogue,
            changes: [
                ...changes
            ]
        });
        const headers = {
            [RECORD_HEADERS.version]: PAYLOAD_VERSION
        };
        await this.send(this.options.changesTopic, [
            {
                key,
                value,
                headers
            }
        ]);
    }
    async close() {
        for (const { fail } of this.waiting.values()){
            fail(new TesseraError('CANCELLED', 'the client was closed'));
        }
        await this.producer.disconnect();
        await this.consumer.disconnect();
    }
    async send(topic, messages) {
        try {
            await this.producer.send({
                topic,
                messages,
                acks: -1
            });
        } catch (thrown) {
            throw unavailable(thrown);
        }
    }
    answerTo(id, waitMs) {
        return new Promise((resolve, reject)=>{
            const timer = setTimeout(()=>{
                reject(new TesseraError('DEADLINE_EXCEEDED', `no answer arrived in ${waitMs} ms`));
            }, waitMs);
            const settled = (act)=>{
                clearTimeout(timer);
                act();
            };
            this.waiting.set(id, {
                answer: (answered)=>settled(()=>resolve(answered)),
                fail: (error)=>settled(()=>reject(error))
            });
        }).finally(()=>this.waiting.delete(id));
    }
    take({ headers, value }) {
        const waiting = this.waiting.get(String(headers?.[RECORD_HEADERS.correlationId]));
        if (waiting === undefined) return;
        try {
            waiting.answer(this.answers.decode(value));
        } catch (thrown) {
            waiting.fail(TesseraError.from(thrown));
        }
    }
}
function codec(packageName, message) {
    return new MessageCodec(protoSchema, `${packageName}.${message}`);
}
function unavailable(thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return new TesseraError('BROKER_UNAVAILABLE', `kafka: ${reason}`, {
        cause: thrown
    });
}
function refusedBy(refusal) {
    if (refusal === undefined) return new TesseraError('INTERNAL', 'the answer says nothing');
    const { code, message, field, retryAfterMs } = refusal;
    return new TesseraError(isErrorCode(code) ? code : 'INTERNAL', message, {
        field: field === '' ? undefined : field,
        retryAfterMs: retryAfterMs === 0 ? undefined : retryAfterMs
    });
}

//# sourceMappingURL=topic-client.js.map