/**
 * Records that this process has applied and that the broker may hand over again, because one of
 * their batch could not be served or their offset could not be committed. A batch is committed
 * before the next one of its partition is handed over, so that those before it are forgotten.
 */ export class AppliedRecords {
    /** Of each partition: the time of a record by its offset. */ partitions = new Map();
    add(record) {
        const name = partitionOf(record);
        const known = this.partitions.get(name) ?? new Map();
        this.partitions.set(name, known.set(record.offset, record.timestampMs));
    }
    /** By their times too: a topic that was made anew begins with the offsets of the old one. */ has(record) {
        return this.partitions.get(partitionOf(record))?.get(record.offset) === record.timestampMs;
    }
    /** Forgets what lies before the first record of a batch, all of one partition. */ forgetBefore(first) {
        const known = this.partitions.get(partitionOf(first));
        for (const offset of known?.keys() ?? []){
            if (BigInt(offset) < BigInt(first.offset)) known?.delete(offset);
        }
    }
}
const partitionOf = ({ topic, partition })=>`${topic} ${partition}`;

//# sourceMappingURL=applied-records.js.map