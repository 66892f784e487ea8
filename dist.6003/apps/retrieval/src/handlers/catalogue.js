import { plain, service, submissionOf } from "../../../../libs/edge/call/src/index.js";
import { expecting, finiteJson } from "../../../../libs/ops/errors/src/index.js";
import { answerOf, applyWire, parseWireChanges, quantised } from "../wire/catalogue.mapper.js";
import { CollectedBatch } from "./collected-batch.js";
const SERVICE = 'tessera.catalogue.v1.CatalogueService';
/** Source that a change is recorded with, by the edge that it came by. */ const SOURCES = {
    grpc: 'gRPC',
    http: 'HTTP',
    kafka: 'Kafka'
};
const sequenceTold = (sequence)=>`sequence ${sequence}`;
const changeOf = (action, { caller, edge }, name)=>({
        action,
        actor: caller.name,
        edge,
        name
    });
/** Written out: objects made by spread and rest live until a major collection of V8. */ const wireItem = (item)=>({
        itemId: item.itemId,
        sid: [
            ...item.sid
        ],
        title: item.title,
        attributes: item.attributes,
        priority: item.priority,
        paused: item.isPaused
    });
async function* listed(changes) {
    const { sequence, pages } = await changes.listItems();
    for (const page of pages)yield {
        sequence,
        items: page.map(wireItem)
    };
}
/** Changes of catalogues, over every edge. */ let CatalogueCalls = class CatalogueCalls {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    of({ catalogue }) {
        return this.parts.operations.changesOf(catalogue);
    }
    async apply(message, call, how = submissionOf(call.field)) {
        const applied = await this.applied(call, message.catalogue, ()=>{
            const changes = parseWireChanges(message.changes);
            return applyWire(this.of(message), changes, message, SOURCES[call.edge], how);
        });
        return answerOf(applied);
    }
    /** A key is of one change: the batches of a stream have none. */ async *applyStream(batches, call) {
        const { waitFor } = submissionOf(call.field);
        const how = waitFor === undefined ? {} : {
            waitFor
        };
        for await (const batch of batches){
            yield this.apply({
                ...batch,
                bundle: undefined,
                importMark: undefined
            }, call, how);
        }
    }
    async applyBatch(messages, call) {
        const batch = new CollectedBatch();
        for await (const message of messages){
            batch.add(message);
            if (batch.isWhole) break;
        }
        const of = (name)=>this.of({
                catalogue: name
            });
        const how = submissionOf(call.field);
        return answerOf(await this.applied(call, batch.catalogue, ()=>batch.apply(of, SOURCES[call.edge], how)));
    }
    async compact(message, call) {
        const change = changeOf('compact-catalogue', call, message.catalogue);
        const act = ()=>this.of(message).compact();
        return {
            sequence: await this.parts.changes.audited(change, act, sequenceTold)
        };
    }
    async rollBack(message, call) {
        const { catalogue, sequence: to } = message;
        const detail = `to sequence ${to}`;
        const change = {
            ...changeOf('roll-back-catalogue', call, catalogue),
            detail
        };
        const how = submissionOf(call.field);
        const act = ()=>this.of(message).rollBack(to, SOURCES[call.edge], how);
        return {
            sequence: await this.parts.changes.audited(change, act, sequenceTold)
        };
    }
    /** Audited behind the answer: changes come in streams. One that does not parse is audited too. */ applied(call, name, act) {
        const change = changeOf('apply-changes', call, name);
        return this.parts.changes.noted(change, async ()=>act(), ({ sequence })=>sequenceTold(sequence));
    }
};
/** Catalogues: changes, versions, items. */ export function catalogueHandlers(parts) {
    const calls = new CatalogueCalls(parts);
    return service(SERVICE, {
        Apply: (read, call)=>calls.apply(read(), call),
        ApplyStream: (batches, call)=>calls.applyStream(batches, call),
        ApplyBatch: (messages, call)=>calls.applyBatch(messages, call),
        Quantise: plain((message)=>quantised(calls.of(message), message)),
        GetState: plain((message)=>{
            const catalogue = calls.of(message);
            const { baseDigest, ...state } = catalogue.state();
            const { bundleUuid, levelSizes } = catalogue;
            return {
                ...state,
                base: baseDigest,
                bundleUuid,
                levelSizes: [
                    ...levelSizes
                ]
            };
        }),
        ListItems: plain((message)=>listed(calls.of(message))),
        ListVersions: plain(async (message)=>{
            const generations = await calls.of(message).generations();
            return {
                generations: generations.map(({ baseDigest, ...rest })=>({
                        ...rest,
                        base: baseDigest
                    }))
            };
        }),
        Compact: (read, call)=>calls.compact(read(), call),
        RollBack: (read, call)=>calls.rollBack(read(), call)
    });
}
const invalid = expecting('CATALOGUE_INVALID');
function objectText(value, field) {
    if (value === undefined) return '';
    const text = finiteJson(value);
    if (typeof text === 'string') return text;
    throw invalid(field, 'finite numbers', text);
}
function withTexts(change, index) {
    const { upsert, setAttributes, patchAttributes } = change;
    const at = `changes[${index}]`;
    for (const item of [
        upsert,
        setAttributes
    ]){
        if (item) Object.assign(item, {
            attributes: objectText(item.attributes, `${at}.attributes`)
        });
    }
    if (patchAttributes) {
        Object.assign(patchAttributes, {
            set: objectText(patchAttributes.set, `${at}.set`)
        });
    }
    return change;
}
/** Those whose JSON has objects where the message has texts of objects. */ export function jsonCatalogueHandlers(parts) {
    const calls = new CatalogueCalls(parts);
    return service(SERVICE, {
        Apply: (read, call)=>{
            const asked = read();
            const changes = asked.changes.map(withTexts);
            return calls.apply({
                ...asked,
                changes
            }, call);
        }
    });
}

//# sourceMappingURL=catalogue.js.map