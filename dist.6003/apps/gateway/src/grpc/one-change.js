import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { roleOf } from "../../../../libs/edge/methods/src/index.js";
import { noNode } from "../asking.js";
import { KEY_FIELD } from "../passed-fields.js";
import { hopOf, identity } from "./hop-metadata.js";
/** A change that is asked of another node again counts once. */ export const keyed = (fields)=>fields[KEY_FIELD] === undefined ? {
        ...fields,
        [KEY_FIELD]: randomUUID()
    } : fields;
/**
 * A node that brings changes to all others.
 * @throws TesseraError NODE_UNAVAILABLE
 */ export function checkLog(cluster) {
    const links = cluster.links();
    const without = links.filter(({ state, log })=>state === 'up' && log.identity === '');
    if (links.length < 2 || without.length === 0) return;
    const names = without.map(({ member })=>member.name).join(', ');
    const message = `nodes: expected all to follow a cluster log (cluster.log), got ${names} without`;
    throw new TesseraError('NODE_UNAVAILABLE', message);
}
/** Changes in several messages. One node takes them, and the cluster's log brings them to all. */ export class StreamedChanges {
    cluster;
    connection;
    constructor(cluster, connection){
        this.cluster = cluster;
        this.connection = connection;
    }
    /** Messages that are answered once. Rejects with a ServiceError or NODE_UNAVAILABLE. */ async send(path, call) {
        const { link, end } = this.begin(path);
        try {
            return await new Promise((resolve, reject)=>{
                const answered = (error, bytes)=>error === null ? resolve(bytes) : reject(error);
                const sink = link.client.makeClientStreamRequest(path, identity, identity, ...hopOf(call, this.connection), answered);
                sink.on('error', ()=>undefined);
                call.once('cancelled', ()=>sink.cancel());
                passed(call, sink).catch(()=>sink.cancel());
            });
        } finally{
            end(false);
        }
    }
    /** Each message is answered. Rejects as send() does. */ async converse(path, call) {
        const { link, end } = this.begin(path);
        const stream = link.client.makeBidiStreamRequest(path, identity, identity, ...hopOf(call, this.connection));
        call.once('cancelled', ()=>stream.cancel());
        passed(call, stream).catch(()=>stream.cancel());
        try {
            for await (const answer of stream){
                if (!call.write(answer)) await once(call, 'drain');
            }
            call.end();
        } finally{
            end(false);
        }
    }
    begin(path) {
        checkLog(this.cluster);
        const chosen = this.cluster.choose(undefined, roleOf(path));
        if (chosen === undefined) throw noNode(this.cluster);
        return {
            link: chosen.link,
            end: this.cluster.begin(chosen.link, path)
        };
    }
}
/** All messages of a client, as the node takes them. */ async function passed(call, sink) {
    // An iterator of its own would close the call with it.
    for await (const message of call.iterator({
        destroyOnReturn: false
    })){
        if (!sink.write(message)) await settled(sink);
    }
    sink.end();
}
/** A sink that takes messages again, or has ended. */ function settled(sink) {
    return new Promise((resolve)=>{
        const over = ()=>{
            for (const event of [
                'drain',
                'close',
                'error'
            ])sink.off(event, over);
            resolve();
        };
        for (const event of [
            'drain',
            'close',
            'error'
        ])sink.on(event, over);
    });
}

//# sourceMappingURL=one-change.js.map