import { recordOf } from "./topic-record.js";
/**
 * Gives every record that a topic holds now and the group has not taken yet to `take`, one after
 * another, and commits each when `take` has resolved. Resolves with their number at the end that
 * the topic had when reading began; rejects with what `take` rejects with, the record not
 * committed.
 */ export async function readTopic(kafka, topic, groupId, take) {
    const admin = kafka.admin();
    await admin.connect();
    const ends = await admin.fetchTopicOffsets(topic);
    const [taken] = await admin.fetchOffsets({
        groupId,
        topics: [
            topic
        ]
    });
    await admin.disconnect();
    const startOf = (partition, low)=>{
        const offset = taken?.partitions.find((one)=>one.partition === partition)?.offset ?? '-1';
        return BigInt(offset) < 0n ? BigInt(low) : BigInt(offset);
    };
    const left = new Map(ends.filter(({ partition, low, high })=>startOf(partition, low) < BigInt(high)).map(({ partition, high })=>[
            partition,
            BigInt(high)
        ]));
    if (left.size === 0) return 0;
    const consumer = kafka.consumer({
        groupId,
        allowAutoTopicCreation: false
    });
    await consumer.connect();
    await consumer.subscribe({
        topic,
        fromBeginning: true
    });
    let count = 0;
    try {
        await new Promise((resolve, reject)=>{
            consumer.on(consumer.events.CRASH, ({ payload })=>reject(payload.error));
            const run = consumer.run({
                autoCommit: false,
                eachMessage: async ({ partition, message })=>{
                    const end = left.get(partition);
                    if (end === undefined || BigInt(message.offset) >= end) return;
                    await take(recordOf(topic, partition, message)).catch((error)=>{
                        reject(error);
                        throw error;
                    });
                    count += 1;
                    const next = BigInt(message.offset) + 1n;
                    await consumer.commitOffsets([
                        {
                            topic,
                            partition,
                            offset: next.toString()
                        }
                    ]);
                    if (next >= end) left.delete(partition);
                    if (left.size === 0) resolve();
                }
            });
            run.catch(reject);
        });
    } finally{
        await consumer.disconnect();
    }
    return count;
}

//# sourceMappingURL=read-topic.js.map