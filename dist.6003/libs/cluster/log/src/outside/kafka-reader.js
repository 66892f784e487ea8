import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { RecordFeed } from "./record-feed.js";
/** How long a broker waits for records before it answers that there are none. */ const FETCH_WAIT_MS = 300;
const FETCH_BYTES_MAX = 4 << 20;
const SESSION_TIMEOUT_MS = 10_000;
const HEARTBEAT_MS = 3000;
const CRASH_PAUSE_MS = 300;
/**
 * Records of a topic's one partition, as they are fetched. A consumer that crashes is replaced:
 * brokers that have just started take a while to know of groups. Callers of take()
 * find out themselves whether a broker is there.
 */ export class KafkaReader {
    link;
    topic;
    next;
    /** Of this reader alone; nothing is committed. */ group;
    /** Why the newest consumer crashed; undefined: none has. */ crash;
    feed = new RecordFeed();
    leaving = new AbortController();
    running;
    /** @param next offset that is read from whenever a consumer begins */ constructor(link, topic, next){
        this.link = link;
        this.topic = topic;
        this.next = next;
        this.group = `${topic}.${randomUUID()}`;
        this.running = this.runUntilLeft();
    }
    /**
   * Undefined where nothing comes within the time, in milliseconds. Records may come again. Rejects
   * where the brokers do not let the reader in.
   */ take(patienceMs) {
        return this.feed.take(patienceMs);
    }
    /** Gives up records that wait. Resolves when the group has no member any more. */ async leave() {
        this.leaving.abort();
        this.feed.close();
        await this.running;
    }
    async runUntilLeft() {
        const { signal } = this.leaving;
        while(!signal.aborted){
            try {
                await this.runUntilCrash(signal);
            } catch (error) {
                this.crash = error;
                if (this.link.fault(error).code === 'CONFIG_INVALID') this.feed.fail(error);
                await pause(CRASH_PAUSE_MS, undefined, {
                    signal
                }).catch(()=>undefined);
            }
        }
    }
    async runUntilCrash(signal) {
        const { topic } = this;
        const consumer = this.consumer();
        const ended = new Promise((resolve, reject)=>{
            signal.addEventListener('abort', ()=>resolve(), {
                once: true
            });
            consumer.on(consumer.events.CRASH, ({ payload })=>reject(payload.error));
        });
        // A consumer that joins begins anew.
        consumer.on(consumer.events.GROUP_JOIN, ()=>{
            consumer.seek({
                topic,
                partition: 0,
                offset: String(this.next())
            });
        });
        try {
            await consumer.connect();
            await consumer.subscribe({
                topic,
                fromBeginning: true
            });
            const run = consumer.run({
                autoCommit: false,
                eachBatch: async ({ batch, heartbeat })=>{
                    const beat = setInterval(()=>heartbeat().catch(()=>undefined), HEARTBEAT_MS);
                    await this.feed.give(batch.messages).finally(()=>clearInterval(beat));
                }
            });
            await Promise.all([
                run,
                ended
            ]);
        } finally{
            ended.catch(()=>undefined);
            await consumer.disconnect().catch(()=>undefined);
        }
    }
    consumer() {
        return this.link.kafka.consumer({
            groupId: this.group,
            sessionTimeout: SESSION_TIMEOUT_MS,
            heartbeatInterval: HEARTBEAT_MS,
            minBytes: 1,
            maxBytesPerPartition: FETCH_BYTES_MAX,
            maxWaitTimeInMs: FETCH_WAIT_MS,
            allowAutoTopicCreation: false,
            retry: {
                retries: 2,
                restartOnFailure: async ()=>false
            }
        });
    }
}

//# sourceMappingURL=kafka-reader.js.map