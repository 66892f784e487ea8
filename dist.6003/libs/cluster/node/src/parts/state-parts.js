import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { positionOf } from "../../../../ops/contracts/src/index.js";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { partsOfRegular } from "../../../../ops/files/src/index.js";
import { KeyWindow } from "../domain/key-window.js";
const CHANGES = 'changes';
const ADAPTERS = 'adapters';
const WEIGHTS = 'weights';
const DROP_VERSION = 'drop-version';
export const KINDS = {
    CHANGES,
    ADAPTERS,
    WEIGHTS,
    DROP_VERSION
};
const unmarked = (value)=>({
        value,
        isMarked: false
    });
/** Items of all catalogues. The first one keeps the position of the node. */ export function cataloguePart(names, changesOf) {
    const known = new KeyWindow();
    const put = (body, offset)=>{
        const { changes } = body;
        const isNew = new Set(newRecords(changes, known, offset));
        for (const id of changes.recordIds ?? []){
            const first = isNew.has(id) ? undefined : known.of(id, offset);
            known.put(id, first ?? {
                offset
            }, offset);
        }
    };
    return {
        name: 'catalogues',
        kinds: [
            CHANGES
        ],
        recall: ({ body }, { offset })=>put(body, offset),
        apply: async ({ body }, { offset }, mark)=>{
            const { catalogue, changes } = body;
            const own = changesOf(catalogue);
            const given = withoutKnown(changes, known, offset);
            put(body, offset);
            const last = positionOf(own.state().mark);
            // A crash may lie between this catalogue's commit and that of the first one.
            const isDone = last?.log === positionOf(mark)?.log && (last?.offset ?? 0) >= offset;
            if (isDone) return unmarked(undefined);
            const value = await own.perform(given, mark);
            return {
                value,
                isMarked: catalogue === '' && !value.alreadyApplied
            };
        },
        digest: async ()=>{
            const digests = names.map(async (name)=>{
                const { bundleUuid } = changesOf(name);
                return [
                    name,
                    [
                        (await changesOf(name).digest()).digest,
                        bundleUuid
                    ]
                ];
            });
            return Object.fromEntries(await Promise.all(digests));
        }
    };
}
/**
 * Records that no entry before has brought. A refusal of that entry is not stored: its
 * records come again one by one, with the offset at which they were refused.
 */ function newRecords(changes, known, offset) {
    const { recordIds = [], refusedAt } = changes;
    return recordIds.filter((id)=>{
        const before = known.of(id, offset);
        // An entry that is tried again finds its own records.
        return before === undefined || before.offset === offset || before.offset === refusedAt;
    });
}
function withoutKnown(changes, known, offset) {
    const { recordIds, messages } = changes;
    if (recordIds === undefined) return changes;
    const isNew = new Set(newRecords(changes, known, offset));
    const left = messages.filter((_, at)=>isNew.has(recordIds[at] ?? ''));
    // Of none a catalogue keeps no mark.
    return {
        ...changes,
        messages: left.length === 0 ? [
            []
        ] : left
    };
}
const ADAPTER_FILES = 'adapters/';
const adapterFile = (digest, name)=>`${ADAPTER_FILES}${digest}/${name}`;
/** Puts the files of a version where the other nodes find them. */ export async function shareVersion(store, folder, { digest, files }) {
    for (const { name } of files){
        await store.putFile(adapterFile(digest, name), join(folder, name));
    }
}
/** Those of versions that are kept, or that an entry names. */ export function sharedAdapterFiles(adapters) {
    const digestOf = (name)=>name.split('/')[1] ?? '';
    return {
        folder: ADAPTER_FILES,
        isUsed: (name)=>(adapters?.list('') ?? []).some(({ digest })=>digest === digestOf(name)),
        isNamed: ({ kind, text }, name)=>kind === ADAPTERS && text.includes(digestOf(name))
    };
}
/** The files of a version that another node has shared, as a push. */ async function* fetched(store, scratch, { name, baseModel, files, remark, digest }) {
    yield {
        header: {
            name,
            baseModel,
            files,
            remark
        }
    };
    await mkdir(scratch, {
        recursive: true
    });
    for (const file of files){
        const path = join(scratch, `${digest}-${file.name}`);
        try {
            await store.getFile(adapterFile(digest, file.name), path);
            for await (const data of partsOfRegular(path))yield {
                data
            };
        } finally{
            await rm(path, {
                force: true
            });
        }
    }
    yield {
        isEnd: true
    };
}
/** Versions of adapters, which of them serve whom, and which are pinned. */ export function adapterPart(adapters, store, scratch) {
    return {
        name: ADAPTERS,
        kinds: [
            ADAPTERS
        ],
        apply: async ({ body })=>{
            if (adapters === undefined) {
                const message = 'adapters.path: expected a folder, got none: no adapters are kept here';
                throw new TesseraError('ADAPTER_STATE', message);
            }
            const partsOf = (version)=>fetched(store, scratch, version);
            return unmarked(await adapters.perform(body, partsOf));
        },
        digest: async ()=>(adapters?.list('') ?? []).filter(({ state, isPinned })=>state === 'active' || state === 'canary' || isPinned).map(({ name, digest, state, share, isPinned })=>JSON.stringify([
                    name,
                    digest,
                    state,
                    share,
                    isPinned
                ])).sort()
    };
}
/** The set of weights in service, where it is not the model's own. */ export function weightsPart(weights) {
    return {
        name: WEIGHTS,
        kinds: [
            WEIGHTS
        ],
        apply: async ({ body })=>{
            const { name } = body;
            return unmarked(await weights.perform(name));
        },
        digest: async ()=>{
            const { serving, digest } = weights.current();
            return serving === '' ? '' : [
                serving,
                digest
            ];
        }
    };
}
/** A version of prompts that the pool gives up: nothing that is kept of it is compared. */ export function poolPart(dropVersion) {
    return {
        name: 'pool',
        kinds: [
            DROP_VERSION
        ],
        apply: async ({ body })=>unmarked(dropVersion(String(body.version))),
        digest: async ()=>''
    };
}

//# sourceMappingURL=state-parts.js.map