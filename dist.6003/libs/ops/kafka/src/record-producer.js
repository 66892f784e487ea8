import { TesseraError } from "../../errors/src/index.js";
import { deadLetter, deadLetterTopic, withoutContent } from "./dead-letters.js";
import { METADATA_MS } from "./kafka-client.js";
/** Records on their way to a broker at most; further ones are refused. */ export const PENDING_RECORDS_MAX = 10_000;
/** Writes records that every replica has when the promise resolves. */ export class RecordProducer {
    producer;
    pending = 0;
    connected;
    constructor(kafka){
        this.producer = kafka.producer({
            allowAutoTopicCreation: false,
            idempotent: false,
            metadataMaxAge: METADATA_MS
        });
    }
    /**
   * Rejects with BROKER_UNAVAILABLE: not written, or not known to be; and with BODY_TOO_LARGE: one
   * of them is larger than the topic takes, those before it are written.
   */ async send(topic, messages) {
        if (messages.length === 0) return;
        if (this.pending + messages.length > PENDING_RECORDS_MAX) {
            const message = `kafka: ${this.pending} records wait for the broker, ` + `expected at most ${PENDING_RECORDS_MAX}`;
            throw new TesseraError('BROKER_UNAVAILABLE', message);
        }
        this.pending += messages.length;
        try {
            await this.connect();
            await this.sendInParts(topic, messages);
        } catch (cause) {
            if (cause instanceof TesseraError) throw cause;
            const reason = cause instanceof Error ? cause.message : String(cause);
            throw new TesseraError('BROKER_UNAVAILABLE', `kafka: ${topic}: ${reason}`, {
                cause
            });
        } finally{
            this.pending -= messages.length;
        }
    }
    /** Puts records that can never be served where they can be looked at and replayed. */ async bury(dead) {
        const byTopic = new Map();
        for (const { record, error } of dead){
            const topic = deadLetterTopic(record.topic);
            const letters = byTopic.get(topic) ?? [];
            letters.push(deadLetter(record, error));
            byTopic.set(topic, letters);
        }
        for (const [topic, letters] of byTopic)await this.sendLetters(topic, letters);
    }
    /** A record may be as large as a topic takes, and its dead letter is larger. */ async sendLetters(topic, letters) {
        try {
            await this.send(topic, letters);
        } catch (thrown) {
            if (TesseraError.from(thrown).code !== 'BODY_TOO_LARGE') throw thrown;
            for (const letter of letters){
                await this.send(topic, [
                    letter
                ]).catch((error)=>{
                    if (TesseraError.from(error).code !== 'BODY_TOO_LARGE') throw error;
                    return this.send(topic, [
                        withoutContent(letter)
                    ]);
                });
            }
        }
    }
    /** A broker bounds what it is given at once, so that many may be too large and each not. */ async sendInParts(topic, messages) {
        try {
            await this.producer.send({
                topic,
                messages: [
                    ...messages
                ],
                acks: -1
            });
        } catch (thrown) {
            if (!isTooLarge(thrown)) throw thrown;
            if (messages.length === 1) {
                const bytes = messages[0]?.value?.length ?? 0;
                const message = `kafka: ${topic}: a value of ${bytes} bytes is more than it takes`;
                throw new TesseraError('BODY_TOO_LARGE', message, {
                    cause: thrown
                });
            }
            const middle = messages.length >> 1;
            await this.sendInParts(topic, messages.slice(0, middle));
            await this.sendInParts(topic, messages.slice(middle));
        }
    }
    async close() {
        await this.producer.disconnect();
    }
    async connect() {
        this.connected ??= this.producer.connect();
        try {
            await this.connected;
        } catch (error) {
            this.connected = undefined;
            throw error;
        }
    }
}
/** kafkajs wraps what the broker answered as often as it has tried. */ function isTooLarge(thrown) {
    for(let error = thrown; error instanceof Error; error = error.cause){
        if (error.type === 'MESSAGE_TOO_LARGE') return true;
    }
    return false;
}

//# sourceMappingURL=record-producer.js.map