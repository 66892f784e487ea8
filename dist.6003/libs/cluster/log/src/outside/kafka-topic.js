import { TesseraError } from "../../../../ops/errors/src/index.js";
import { loadKafka } from "../../../../ops/kafka/src/index.js";
import { withinMs } from "../../../../ops/turns/src/index.js";
import { KAFKA_FIELD } from "./kafka-link.js";
import { KafkaReader } from "./kafka-reader.js";
/** An idle reader asks so often where the topic ends. */ const LOOK_EVERY_MS = 500;
/** Records are there and none comes for so long: the reader does not work. */ const STALLED_MS = 10_000;
const LEAVE_TIMEOUT_MS = 2000;
/** On more than one broker: what is acknowledged outlives each of them. */ const REPLICAS_MIN = 'min.insync.replicas';
const IN_SYNC_MIN = 2;
const REPLICAS = 3;
/** A topic with one partition that is read from any offset and without a consumer's memory. */ export class KafkaTopic {
    link;
    name;
    options;
    isThere = false;
    leaving = new Set();
    /**
   * @param options configuration of the topic where it has to be made; `isGapless`: no record but
   * the oldest ones is ever taken out
   */ constructor(link, name, options){
        this.link = link;
        this.name = name;
        this.options = options;
    }
    /** Makes the topic where it is missing. */ async bounds() {
        await this.ensure();
        const [bounds] = await this.link.ask((admin)=>admin.fetchTopicOffsets(this.name));
        return {
            low: Number(bounds?.low),
            high: Number(bounds?.high)
        };
    }
    async removeBefore(offset) {
        const partitions = [
            {
                partition: 0,
                offset: String(offset)
            }
        ];
        await this.link.ask(async (admin)=>{
            // Without metadata of the topic the client knows no leader to ask.
            await admin.fetchTopicOffsets(this.name);
            await admin.deleteTopicRecords({
                topic: this.name,
                partitions
            });
        });
    }
    /**
   * Records from an offset on, without an end. Throws LOG_TRIMMED where they are gone, and
   * STORE_UNAVAILABLE.
   */ async *read(from, signal) {
        let next = from;
        if (await this.look(next) === next) yield {
            records: [],
            next
        };
        const reader = new KafkaReader(this.link, this.name, ()=>next);
        const leave = ()=>this.leaveBehind(reader);
        signal.addEventListener('abort', leave, {
            once: true
        });
        let movedMs = performance.now();
        try {
            while(!signal.aborted){
                const records = await reader.take(LOOK_EVERY_MS);
                if (signal.aborted) return;
                const fresh = records?.filter(({ offset })=>Number(offset) >= next) ?? [];
                if (fresh.length > 0) {
                    this.checkFirst(next, fresh);
                    next = Number(fresh.at(-1)?.offset) + 1;
                    yield {
                        records: fresh,
                        next
                    };
                } else {
                    const end = await this.look(next);
                    if (end !== next && performance.now() - movedMs < STALLED_MS) continue;
                    // Those that are left out of a compacted topic may be its last ones.
                    if (end < next || end > next && this.options.isGapless) throw this.stalled(next, end, reader.crash);
                    next = end;
                    yield {
                        records: [],
                        next
                    };
                }
                movedMs = performance.now();
            }
        } catch (thrown) {
            throw this.link.fault(thrown);
        } finally{
            signal.removeEventListener('abort', leave);
            leave();
        }
    }
    /** Waits for readers that leave, a while; their signals are aborted. */ async close() {
        await withinMs(LEAVE_TIMEOUT_MS, Promise.all(this.leaving)).catch(()=>undefined);
    }
    /**
   * A reader leaves, and its group is taken away. The caller does not wait: a broker that is
   * away would hold it for long.
   */ leaveBehind(reader) {
        const gone = reader.leave().then(()=>this.link.ask((admin)=>admin.deleteGroups([
                    reader.group
                ]))).catch(()=>undefined).finally(()=>this.leaving.delete(gone));
        this.leaving.add(gone);
    }
    /** Where the topic ends. Throws LOG_TRIMMED. */ async look(next) {
        const { low, high } = await this.bounds();
        if (low > next && this.options.isGapless) throw this.trimmed(next, low);
        return high;
    }
    async ensure() {
        if (this.isThere) return;
        const topic = this.name;
        const configEntries = Object.entries(this.options.settings).map(([name, value])=>({
                name,
                value
            }));
        const { partitions, brokers, replicasMin } = await this.link.ask(async (admin)=>{
            const { brokers } = await admin.describeCluster();
            const isOne = brokers.length === 1;
            if (!isOne) configEntries.push({
                name: REPLICAS_MIN,
                value: String(IN_SYNC_MIN)
            });
            const present = await admin.listTopics();
            if (!present.includes(topic)) {
                // Another node may make it meanwhile: false then, and it is there all the same.
                const replicationFactor = Math.min(brokers.length, REPLICAS);
                const topics = [
                    {
                        topic,
                        numPartitions: 1,
                        replicationFactor,
                        configEntries
                    }
                ];
                await admin.createTopics({
                    topics,
                    waitForLeaders: true
                });
            }
            const { topics } = await admin.fetchTopicMetadata({
                topics: [
                    topic
                ]
            });
            const partitions = topics[0]?.partitions.length;
            const replicasMin = isOne ? undefined : await settingOf(admin, topic, REPLICAS_MIN);
            return {
                partitions,
                brokers: brokers.length,
                replicasMin
            };
        });
        if (replicasMin !== undefined && Number(replicasMin) < IN_SYNC_MIN) {
            const wanted = `${REPLICAS_MIN} of ${IN_SYNC_MIN} or more`;
            const expected = `${wanted} at ${topic} on ${brokers} brokers`;
            const got = `got ${replicasMin}: a lost leader loses`;
            const message = `${KAFKA_FIELD}: expected ${expected}, ${got}`;
            throw new TesseraError('CONFIG_INVALID', `${message} what it alone has acknowledged`, {
                field: KAFKA_FIELD
            });
        }
        if (partitions !== 1) {
            const message = `${KAFKA_FIELD}: expected one partition of ${topic}, got ${partitions}`;
            throw new TesseraError('CONFIG_INVALID', message, {
                field: KAFKA_FIELD
            });
        }
        this.isThere = true;
    }
    checkFirst(next, [first]) {
        const got = Number(first?.offset);
        if (got > next && this.options.isGapless) throw this.trimmed(next, got);
    }
    trimmed(next, got) {
        const message = `${this.link.place}: expected records from ${next} on, got them from ${got} on`;
        return new TesseraError('LOG_TRIMMED', message);
    }
    stalled(next, end, crash) {
        const why = crash instanceof Error ? `: ${crash.message}` : '';
        const message = `expected to read from ${next} on, got nothing up to ${end}${why}`;
        return new Error(`${this.name}: ${message}`);
    }
}
async function settingOf(admin, topic, name) {
    const { ConfigResourceTypes } = await loadKafka();
    const resources = [
        {
            type: ConfigResourceTypes.TOPIC,
            name: topic,
            configNames: [
                name
            ]
        }
    ];
    const described = await admin.describeConfigs({
        resources,
        includeSynonyms: false
    });
    return described.resources[0]?.configEntries[0]?.configValue ?? '';
}

//# sourceMappingURL=kafka-topic.js.map