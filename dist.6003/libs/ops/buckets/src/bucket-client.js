import { TesseraError } from "../../errors/src/index.js";
const ATTEMPTS = 3;
const NOT_FOUND = 404;
const INSUFFICIENT_STORAGE = 507;
/** Operations of buckets; they reject as the SDK does: see statusOf() and bucketFault(). */ export class BucketClient {
    settings;
    connectMs;
    attempts;
    opened;
    /** @param connectMs in which a connection is made. @param attempts of one operation */ constructor(settings, connectMs, attempts = ATTEMPTS){
        this.settings = settings;
        this.connectMs = connectMs;
        this.attempts = attempts;
    }
    async head({ bucket, key }, signal) {
        const { sdk, client } = await this.open();
        const asked = new sdk.HeadObjectCommand({
            Bucket: bucket,
            Key: key
        });
        const { ContentLength: bytes, ETag: etag } = await client.send(asked, {
            abortSignal: signal
        });
        return {
            bytes,
            etag
        };
    }
    /** @param etag that it has to have; left out: any */ async get({ bucket, key }, signal, etag) {
        const { sdk, client } = await this.open();
        const wanted = {
            Bucket: bucket,
            Key: key,
            ...etag === undefined ? {} : {
                IfMatch: etag
            }
        };
        const asked = new sdk.GetObjectCommand(wanted);
        const { Body, ETag = '' } = await client.send(asked, {
            abortSignal: signal
        });
        return {
            body: Body,
            etag: ETag
        };
    }
    /** @returns its ETag */ async put({ bucket, key }, body, condition, signal) {
        const { sdk, client } = await this.open();
        const wanted = {
            Bucket: bucket,
            Key: key,
            ContentLength: body.bytes,
            ...condition
        };
        const asked = new sdk.PutObjectCommand({
            ...wanted,
            Body: body.content
        });
        const { ETag = '' } = await client.send(asked, {
            abortSignal: signal
        });
        return ETag;
    }
    async remove({ bucket, key }, signal) {
        const { sdk, client } = await this.open();
        const asked = new sdk.DeleteObjectCommand({
            Bucket: bucket,
            Key: key
        });
        await client.send(asked, {
            abortSignal: signal
        });
    }
    /** A page of the keys that begin with the prefix. @param from the page's, '': the first */ async keys(bucket, prefix, from, signal) {
        const { sdk, client } = await this.open();
        const page = from === '' ? {} : {
            ContinuationToken: from
        };
        const asked = new sdk.ListObjectsV2Command({
            Bucket: bucket,
            Prefix: prefix,
            ...page
        });
        const found = await client.send(asked, {
            abortSignal: signal
        });
        const keys = (found.Contents ?? []).map(({ Key = '' })=>Key);
        return {
            keys,
            next: found.NextContinuationToken ?? ''
        };
    }
    async close() {
        if (this.opened !== undefined) (await this.opened).client.destroy();
    }
    /** Loaded with the first operation: it takes a quarter of a second. */ open() {
        this.opened ??= openClient(this.settings, this.connectMs, this.attempts);
        return this.opened;
    }
}
async function openClient(settings, connectMs, attempts) {
    const { endpoint, region, isPathStyle } = settings;
    const sdk = await import("@aws-sdk/client-s3");
    const client = new sdk.S3Client({
        ...endpoint === '' ? {} : {
            endpoint
        },
        region,
        forcePathStyle: isPathStyle,
        maxAttempts: attempts,
        requestHandler: {
            connectionTimeout: connectMs
        },
        // Not every store knows other checksums than those that it asks for.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED'
    });
    return {
        sdk,
        client
    };
}
/** Of an answer; undefined: there was none. */ export const statusOf = (thrown)=>thrown?.$metadata?.httpStatusCode;
/** Of an object; a bucket that is not there is another fault. */ export const isAbsent = (thrown)=>statusOf(thrown) === NOT_FOUND && thrown.name !== 'NoSuchBucket';
/** STORE_FULL where the store has no room, otherwise STORE_UNAVAILABLE. */ export function bucketFault(place, thrown) {
    const { name, message, code } = thrown;
    const status = statusOf(thrown);
    const isFull = status === INSUFFICIENT_STORAGE || code === 'ENOSPC';
    const numbered = status === undefined ? '' : ` (${status})`;
    const text = `${place}: ${name}, ${message}${numbered}`;
    return new TesseraError(isFull ? 'STORE_FULL' : 'STORE_UNAVAILABLE', text, {
        cause: thrown
    });
}

//# sourceMappingURL=bucket-client.js.map