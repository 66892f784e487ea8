import { TesseraError } from "../../../../ops/errors/src/index.js";
import { LEASE_MS, NO_OFFSET } from "../domain/cluster-log.js";
import { inYields } from "../domain/log-yields.js";
import { KAFKA_FIELD, KafkaLink } from "./kafka-link.js";
import { KafkaSender } from "./kafka-sender.js";
import { KafkaTopic } from "./kafka-topic.js";
import { KafkaWords } from "./kafka-words.js";
/** Names the log that a record belongs to. */ const IDENTITY_HEADER = 'log';
/** How the log was begun anew, as JSON. */ const ANEW_HEADER = 'anew';
const SETTINGS = {
    'cleanup.policy': 'delete',
    'retention.ms': '-1',
    'retention.bytes': '-1',
    'unclean.leader.election.enable': 'false',
    'message.timestamp.type': 'LogAppendTime'
};
/**
 * A log in the topic `NAME.log` of Kafka, with one partition; an entry's offset is that of its
 * record and one. Reports of nodes are in `NAME.nodes`. Records without a value are no entries: the
 * first of them gives the log its identity, and `bounds` counts them all.
 */ export class KafkaLog {
    place;
    link;
    topic;
    sender;
    words;
    closing = new AbortController();
    /** Content of the oldest record when the topic had these bounds. */ known = {
        identity: '',
        anew: undefined,
        low: 0,
        high: 0
    };
    constructor(place, link, name){
        this.place = place;
        this.link = link;
        const topic = `${name}.log`;
        this.topic = new KafkaTopic(link, topic, {
            settings: SETTINGS,
            isGapless: true
        });
        this.sender = new KafkaSender(link, topic);
        this.words = new KafkaWords(link, `${name}.nodes`);
    }
    /**
   * Opens also while the brokers are away. Rejects with CONFIG_INVALID for a bad address or name.
   */ static async open({ name, ...address }, nodeLog) {
        if (!/^[\w.-]{1,200}$/.test(name)) {
            const message = `${KAFKA_FIELD}: expected a name of letters, digits and _.-, got '${name}'`;
            throw new TesseraError('CONFIG_INVALID', message, {
                field: KAFKA_FIELD
            });
        }
        const place = `Kafka at ${address.brokers}, ${name}.log`;
        return new KafkaLog(place, await KafkaLink.open(address, place, nodeLog), name);
    }
    async bounds() {
        const { low, high } = await this.topic.bounds();
        const identity = await this.identityIn({
            low,
            high
        });
        return {
            identity,
            first: low + 1,
            end: high,
            anew: this.known.anew
        };
    }
    async begin(identity) {
        const { identity: begun } = await this.bounds();
        if (begun !== '') return begun;
        await this.sender.send({
            value: Buffer.of(),
            headers: {
                [IDENTITY_HEADER]: identity
            }
        });
        return (await this.bounds()).identity;
    }
    /**
   * Rejects with LOG_DIFFERENT where nobody has begun the log, or it is shorter than what is
   * applied. A topic compares nothing as it appends: readers refuse entries of another history.
   */ async append(bytes, after) {
        if (bytes.length === 0) {
            throw new TesseraError('REQUEST_INVALID', `${this.place}: expected an entry, got no bytes`);
        }
        const identity = await this.identity();
        if (this.known.high < after.offset) {
            const expected = `expected entries up to ${after.offset}, which are applied here`;
            const message = `${this.place}: ${expected}, got up to ${this.known.high}`;
            throw new TesseraError('LOG_DIFFERENT', message);
        }
        const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
        return await this.sender.send({
            value,
            headers: {
                [IDENTITY_HEADER]: identity
            }
        }) + 1;
    }
    async *read(from, signal) {
        const ended = AbortSignal.any([
            signal,
            this.closing.signal
        ]);
        const start = Math.max(from, NO_OFFSET + 1) - 1;
        try {
            let identity = '';
            for await (const { records } of this.topic.read(start, ended)){
                if (records.length === 0) yield [];
                else identity ||= (await this.bounds()).identity;
                yield* inYields(records.flatMap((record)=>entriesOf(record, identity)));
            }
        } catch (thrown) {
            if (!ended.aborted) throw thrown;
        }
    }
    /**
   * The newest record stays, for the log's identity is that of its oldest one; for the same reason
   * one of another identity never becomes the oldest.
   */ async trim(before) {
        const { low, high } = await this.topic.bounds();
        const identity = await this.identityIn({
            low,
            high
        });
        const wanted = Math.min(before, high) - 1;
        if (wanted <= low) return;
        const found = await this.first(wanted, high, (record)=>identityOf(record) === identity);
        if (found !== undefined) await this.topic.removeBefore(Number(found.offset));
    }
    async say(position) {
        const begunMs = performance.now();
        await this.words.say(await this.identity(), position);
        return begunMs + LEASE_MS;
    }
    async positions() {
        return this.words.positions((await this.bounds()).identity);
    }
    async leave(position) {
        await this.words.leave(await this.identity(), position);
    }
    /** The records before it go: the first one that is there says which log it is. */ async beginAnew(identity, anew) {
        const headers = {
            [IDENTITY_HEADER]: identity,
            [ANEW_HEADER]: JSON.stringify(anew)
        };
        const offset = await this.sender.send({
            value: Buffer.of(),
            headers
        });
        await this.topic.removeBefore(offset);
    }
    async digestAt(offset, digest) {
        return this.words.digestAt(await this.identity(), offset, digest);
    }
    /** Readers end. */ async close() {
        this.closing.abort();
        this.sender.close();
        await Promise.all([
            this.topic.close(),
            this.words.close()
        ]);
        this.link.close();
    }
    async identity() {
        const identity = this.known.identity || (await this.bounds()).identity;
        if (identity !== '') return identity;
        const message = `${this.place}: expected a log that somebody has begun, got an empty one`;
        throw new TesseraError('LOG_DIFFERENT', message);
    }
    /** A topic whose bounds went back was made anew. */ async identityIn({ low, high }) {
        const { known } = this;
        if (low >= high) return '';
        // Records before the oldest one that was known have gone: the log may have been begun anew.
        if (known.identity === '' || low !== known.low || high < known.high) {
            const oldest = await this.first(low, high, ()=>true);
            const named = oldest === undefined ? {
                identity: '',
                anew: undefined
            } : namesOf(oldest);
            this.known = {
                ...named,
                low,
                high
            };
        } else {
            this.known = {
                ...known,
                low,
                high
            };
        }
        return this.known.identity;
    }
    /** The first record of a kind among those up to an offset. */ async first(from, end, isWanted) {
        for await (const { records, next } of this.topic.read(from, this.closing.signal)){
            const found = records.find(isWanted);
            if (found !== undefined || next >= end) return found;
        }
        return undefined;
    }
}
const identityOf = (record)=>namesOf(record).identity;
function namesOf({ headers = {} }) {
    const anew = headers[ANEW_HEADER];
    return {
        identity: String(headers[IDENTITY_HEADER] ?? ''),
        anew: anew === undefined ? undefined : JSON.parse(String(anew))
    };
}
function entriesOf(record, identity) {
    const { offset, value, timestamp } = record;
    if (value === null || value.length === 0 || identityOf(record) !== identity) return [];
    return [
        {
            offset: Number(offset) + 1,
            atMs: Number(timestamp),
            bytes: value
        }
    ];
}

//# sourceMappingURL=kafka-log.js.map