import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { BucketClient, bucketFault, isAbsent, statusOf } from "../../../../ops/buckets/src/index.js";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { openRegular } from "../../../../ops/files/src/index.js";
import { checkEntryName } from "../domain/entry-name.js";
/** Somebody has put the same name meanwhile, or is about to. */ const ALREADY_THERE = [
    409,
    412
];
/** The store does not know the condition. */ const NOT_IMPLEMENTED = 501;
/** Objects below a prefix of one bucket. */ export class S3EntryStore {
    place;
    bucket;
    prefix;
    settings;
    client;
    /** @param prefix ends with a slash, or is empty */ constructor(place, bucket, prefix, settings){
        this.place = place;
        this.bucket = bucket;
        this.prefix = prefix;
        this.settings = settings;
        this.client = new BucketClient(settings, settings.timeoutMs);
    }
    put(name, content) {
        return this.putBody(name, content.length, ()=>content);
    }
    async putFile(name, path) {
        const file = await openRegular(path).catch((thrown)=>{
            throw this.fault(thrown);
        });
        try {
            const { size } = await file.stat();
            const whole = (progress)=>{
                const stream = file.createReadStream({
                    autoClose: false,
                    start: 0
                });
                return Readable.from(counted(stream, progress), {
                    objectMode: false
                });
            };
            await this.putBody(name, size, whole);
        } finally{
            await file.close();
        }
    }
    async get(name) {
        return this.act(name, async (place, progress)=>{
            const { body } = await this.client.get(place, progress.signal);
            const parts = [];
            for await (const part of body){
                progress.moved();
                parts.push(part);
            }
            return Buffer.concat(parts);
        });
    }
    async getFile(name, path) {
        const partial = `${path}.${randomUUID()}`;
        try {
            await this.act(name, async (place, progress)=>{
                const { body } = await this.client.get(place, progress.signal);
                const file = await open(partial, 'wx');
                try {
                    for await (const part of body){
                        progress.moved();
                        await file.writeFile(part);
                    }
                    await file.sync();
                } finally{
                    await file.close();
                }
                await rename(partial, path);
            });
        } finally{
            await rm(partial, {
                force: true
            });
        }
    }
    async list(prefix) {
        return this.within(prefix, async ({ signal, moved })=>{
            const names = [];
            for(let from = '';;){
                const page = await this.client.keys(this.bucket, this.prefix + prefix, from, signal);
                moved();
                for (const key of page.keys)names.push(key.slice(this.prefix.length));
                from = page.next;
                if (from === '') return names.sort();
            }
        });
    }
    async remove(name) {
        await this.act(name, (place, { signal })=>this.client.remove(place, signal));
    }
    async putBody(name, bytes, open) {
        await this.act(name, async (place, progress)=>{
            const { signal } = progress;
            // Not every store knows the condition, and some take no notice of it.
            if (await this.isThere(place, signal)) return;
            const send = (condition)=>this.client.put(place, {
                    bytes,
                    content: open(progress)
                }, condition, signal);
            try {
                await send({
                    IfNoneMatch: '*'
                });
            } catch (thrown) {
                const status = statusOf(thrown);
                if (status === NOT_IMPLEMENTED) await send({});
                else if (!ALREADY_THERE.includes(status)) throw thrown;
                else if (!await this.isThere(place, signal)) throw thrown;
            }
        });
    }
    async isThere(place, signal) {
        try {
            await this.client.head(place, signal);
            return true;
        } catch (thrown) {
            if (isAbsent(thrown)) return false;
            throw thrown;
        }
    }
    async act(name, act) {
        checkEntryName(this.place, name);
        const place = {
            bucket: this.bucket,
            key: this.prefix + name
        };
        return this.within(name, (progress)=>act(place, progress));
    }
    async within(name, act) {
        const progress = new Progress(this.settings.timeoutMs);
        try {
            return await act(progress);
        } catch (thrown) {
            throw this.fault(thrown, name);
        } finally{
            progress.end();
        }
    }
    fault(thrown, name = '') {
        if (!isAbsent(thrown)) return bucketFault(`${this.place}: ${name}`, thrown);
        const text = `${this.place}: expected ${name}, which is not there`;
        return new TesseraError('STORE_CORRUPT', text, {
            cause: thrown
        });
    }
}
/** An operation that goes on for as long as bytes come, however many they are. */ let Progress = class Progress {
    stalled = new AbortController();
    timer;
    signal = this.stalled.signal;
    constructor(timeoutMs){
        const stall = ()=>this.stalled.abort(new Error(`no byte within ${timeoutMs} ms`));
        this.timer = setTimeout(stall, timeoutMs);
    }
    moved = ()=>{
        this.timer.refresh();
    };
    end() {
        clearTimeout(this.timer);
    }
};
async function* counted(parts, progress) {
    for await (const part of parts){
        progress.moved();
        yield part;
    }
}

//# sourceMappingURL=s3-entry-store.js.map