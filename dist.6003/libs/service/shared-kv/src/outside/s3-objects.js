import { BucketClient, bucketFault, isAbsent, statusOf } from "../../../../ops/buckets/src/index.js";
const NOT_IMPLEMENTED = 501;
/** The object is another one, is not there, or somebody else is about to put it. */ const CHANGED = [
    404,
    409,
    412
];
/** An ETag that no object has. */ const NO_REVISION = '"00000000000000000000000000000000"';
/** Objects of one bucket, with conditions also where the store has none. */ export class S3Objects {
    place;
    bucket;
    probeKey;
    timeoutMs;
    client;
    conditions;
    /** Bytes of objects, and answers. */ arrived = 0;
    /**
   * @param place for messages
   * @param probeKey of an object that shows whether the store knows conditions
   */ constructor(place, bucket, probeKey, settings, timeoutMs){
        this.place = place;
        this.bucket = bucket;
        this.probeKey = probeKey;
        this.timeoutMs = timeoutMs;
        this.client = new BucketClient(settings, timeoutMs);
    }
    async get(key) {
        return this.act(async (signal)=>{
            try {
                const { body, etag } = await this.client.get(this.at(key), signal);
                const parts = [];
                this.arrived += 1;
                for await (const part of body){
                    parts.push(part);
                    this.arrived += part.length;
                }
                return {
                    bytes: Buffer.concat(parts),
                    revision: etag
                };
            } catch (thrown) {
                if (isAbsent(thrown)) return undefined;
                throw thrown;
            }
        });
    }
    /** Its new revision; undefined: the object is not what the condition wants, nothing was put. */ async put(key, bytes, must) {
        if (must === undefined) return this.send(key, bytes, {});
        if (!await this.knowsConditions()) {
            return await this.holds(key, must) ? this.send(key, bytes, {}) : undefined;
        }
        const { revision } = must;
        const condition = revision === '' ? {
            IfNoneMatch: '*'
        } : {
            IfMatch: revision
        };
        try {
            return await this.send(key, bytes, condition);
        } catch (thrown) {
            if (CHANGED.includes(causedStatus(thrown)) && !isBucketAbsent(thrown)) return undefined;
            throw thrown;
        }
    }
    /** Does nothing where the object is not there, or not what the condition wants. */ async remove(key, must) {
        if (must !== undefined && !await this.holds(key, must)) return;
        await this.act((signal)=>this.client.remove(this.at(key), signal));
    }
    async *keysBelow(prefix) {
        let from = '';
        do {
            const start = from;
            const page = await this.act((signal)=>this.client.keys(this.bucket, prefix, start, signal));
            yield page.keys;
            from = page.next;
        }while (from !== '')
    }
    close() {
        return this.client.close();
    }
    at(key) {
        return {
            bucket: this.bucket,
            key
        };
    }
    send(key, content, condition) {
        const body = {
            bytes: content.length,
            content
        };
        return this.act((signal)=>this.client.put(this.at(key), body, condition, signal));
    }
    async holds(key, { revision }) {
        const there = await this.act(async (signal)=>{
            try {
                return (await this.client.head(this.at(key), signal)).etag ?? '';
            } catch (thrown) {
                if (isAbsent(thrown)) return '';
                throw thrown;
            }
        });
        return there === revision;
    }
    /** Some stores refuse a condition, others take no notice of it. */ knowsConditions() {
        this.conditions ??= this.probe().catch((thrown)=>{
            this.conditions = undefined;
            throw thrown;
        });
        return this.conditions;
    }
    async probe() {
        const bytes = new Uint8Array([
            1
        ]);
        await this.send(this.probeKey, bytes, {});
        try {
            await this.send(this.probeKey, bytes, {
                IfMatch: NO_REVISION
            });
            return false;
        } catch (thrown) {
            const status = causedStatus(thrown);
            if (status === NOT_IMPLEMENTED) return false;
            if (CHANGED.includes(status)) return true;
            throw thrown;
        }
    }
    async act(act) {
        try {
            return await act(AbortSignal.timeout(this.timeoutMs));
        } catch (thrown) {
            throw bucketFault(this.place, thrown);
        }
    }
}
const causedStatus = (thrown)=>statusOf(thrown.cause);
const isBucketAbsent = (thrown)=>thrown.cause.name === 'NoSuchBucket';

//# sourceMappingURL=s3-objects.js.map