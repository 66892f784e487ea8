import { randomUUID } from "node:crypto";
import { DEFAULT_TOPICS } from "../../../libs/edge/client/src/index.js";
import { protoSchema, recallEventsPackage } from "../../../libs/ops/contracts/src/index.js";
import { MessageCodec, RECORD_HEADERS } from "../../../libs/ops/kafka/src/index.js";
import { Kafka, logLevel } from "kafkajs";
const DEADLINE_MS = 60_000;
const FETCH_WAIT_MS = 20;
/**
 * A caller on topics that costs as little as it can: requests go out in batches and of the
 * answers only their number counts.
 */ export class TopicAsker {
    producer;
    consumer;
    userOf;
    codec = new MessageCodec(protoSchema, `${recallEventsPackage}.RecallRequested`);
    asked = 0;
    answered = 0;
    onAnswers = ()=>undefined;
    constructor(producer, consumer, userOf){
        this.producer = producer;
        this.consumer = consumer;
        this.userOf = userOf;
    }
    static async open(broker, userOf) {
        const kafka = new Kafka({
            brokers: [
                broker
            ],
            logLevel: logLevel.NOTHING
        });
        const producer = kafka.producer({
            allowAutoTopicCreation: false
        });
        const consumer = kafka.consumer({
            groupId: randomUUID(),
            maxWaitTimeInMs: FETCH_WAIT_MS
        });
        const asker = new TopicAsker(producer, consumer, userOf);
        await Promise.all([
            producer.connect(),
            consumer.connect()
        ]);
        await consumer.subscribe({
            topic: DEFAULT_TOPICS.responsesTopic,
            fromBeginning: false
        });
        // The first fetch finds out where the newest response lies.
        const fetched = new Promise((resolve)=>consumer.on(consumer.events.FETCH, resolve));
        await consumer.run({
            eachBatch: async ({ batch })=>{
                asker.answered += batch.messages.length;
                asker.onAnswers();
            }
        });
        await fetched;
        return asker;
    }
    /** `count` requests always under way; resolves with how many were answered. */ async keepAsking(count, milliseconds) {
        const before = this.answered;
        const end = performance.now() + milliseconds;
        while(performance.now() < end){
            const free = count - (this.asked - this.answered);
            if (free > 0) await this.ask(free);
            else await this.nextAnswers();
        }
        while(this.answered < this.asked)await this.nextAnswers();
        return this.answered - before;
    }
    async close() {
        await Promise.all([
            this.producer.disconnect(),
            this.consumer.disconnect()
        ]);
    }
    nextAnswers() {
        return new Promise((resolve)=>{
            this.onAnswers = resolve;
        });
    }
    async ask(count) {
        const deadlineTimeMs = Date.now() + DEADLINE_MS;
        const messages = Array.from({
            length: count
        }, (_, i)=>{
            const userId = this.userOf(this.asked + i);
            const requested = {
                request: {
                    userId
                },
                deadlineTimeMs
            };
            return {
                key: userId,
                value: this.codec.encode(requested),
                headers: {
                    [RECORD_HEADERS.correlationId]: String(this.asked + i)
                }
            };
        });
        this.asked += count;
        await this.producer.send({
            topic: DEFAULT_TOPICS.requestsTopic,
            messages
        });
    }
}

//# sourceMappingURL=topic-asker.js.map