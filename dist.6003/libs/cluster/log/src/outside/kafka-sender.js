import { withinMs } from "../../../../ops/turns/src/index.js";
/** Of one request with its attempts. */ const SEND_TIMEOUT_MS = 8000;
const BROKER_TIMEOUT_MS = 4000;
/** Of the records of one request: a broker takes a mebibyte where nothing else is said. */ const REQUEST_BYTES_MAX = 768 << 10;
/**
 * Writes records to one partition in the order in which they are given. Those that come while a
 * request is under way go together with the next one. A producer that failed is given up: what it
 * has sent may still be written, and its numbering of records no longer fits.
 */ export class KafkaSender {
    link;
    topic;
    waiting = [];
    isSending = false;
    producer;
    constructor(link, topic){
        this.link = link;
        this.topic = topic;
    }
    /** Resolves with the record's offset when all replicas in sync have it. */ send(message) {
        const sent = new Promise((resolve, reject)=>{
            const own = {
                ...message,
                partition: 0
            };
            this.waiting.push({
                message: own,
                sent: resolve,
                failed: reject
            });
        });
        if (!this.isSending) void this.sendAll();
        return sent;
    }
    close() {
        const { producer } = this;
        this.producer = undefined;
        producer?.then((open)=>open.disconnect()).catch(()=>undefined);
    }
    async sendAll() {
        this.isSending = true;
        while(this.waiting.length > 0){
            const together = this.takeTogether();
            try {
                const first = await withinMs(SEND_TIMEOUT_MS, this.sendTogether(together));
                for (const [index, { sent }] of together.entries())sent(first + index);
            } catch (thrown) {
                this.close();
                const error = this.link.fault(thrown);
                // Those behind would each wait as long.
                for (const { failed } of [
                    ...together,
                    ...this.waiting.splice(0)
                ])failed(error);
            }
        }
        this.isSending = false;
    }
    takeTogether() {
        let total = 0;
        const beyond = this.waiting.findIndex(({ message }, index)=>{
            total += message.value?.length ?? 0;
            return index > 0 && total > REQUEST_BYTES_MAX;
        });
        return this.waiting.splice(0, beyond < 0 ? this.waiting.length : beyond);
    }
    async sendTogether(together) {
        this.producer ??= this.connected();
        const producer = await this.producer;
        const [written] = await producer.send({
            topic: this.topic,
            messages: together.map(({ message })=>message),
            acks: -1,
            timeout: BROKER_TIMEOUT_MS
        });
        const offset = Number(written?.baseOffset);
        if (Number.isSafeInteger(offset) && offset >= 0) return offset;
        throw new Error(`expected the offset of a record, got ${written?.baseOffset}`);
    }
    async connected() {
        const producer = this.link.kafka.producer({
            idempotent: true,
            maxInFlightRequests: 1,
            allowAutoTopicCreation: false,
            createPartitioner: ()=>()=>0
        });
        await producer.connect();
        return producer;
    }
}

//# sourceMappingURL=kafka-sender.js.map