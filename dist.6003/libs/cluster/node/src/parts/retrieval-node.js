import { join } from "node:path";
import { parseCatalogueSpecs } from "../../../../service/catalogue/src/index.js";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { MILLISECONDS_PER_DAY } from "../../../../ops/units/src/index.js";
import { ClusterNode } from "../node.js";
import { BeginningPart } from "./beginning-part.js";
import { eventualParts } from "./eventual-parts.js";
import { stateFolders } from "./state-folders.js";
import { adapterPart, cataloguePart, KINDS, poolPart, sharedAdapterFiles, shareVersion, weightsPart } from "./state-parts.js";
/**
 * A node that answers recalls: catalogues, adapters and weights follow the log; behaviours, the
 * pool and recorded recalls take its erasures.
 */ export class RetrievalNode {
    parts;
    runtime;
    node;
    constructor(parts, runtime, node){
        this.parts = parts;
        this.runtime = runtime;
        this.node = node;
    }
    /** Loads the state of this node and brings it to where the log is. Rejects as both do. */ static async join(parts, load) {
        const { config, opened, pending, log: nodeLog } = parts;
        if (config.catalogue.changesPath === '') {
            const message = 'catalogue.changesPath: expected a folder beside cluster.log, got none';
            throw new TesseraError('CONFIG_INVALID', message, {
                field: 'catalogue.changesPath'
            });
        }
        const { node, cluster } = config;
        const options = {
            ...opened,
            node: node.name,
            cluster: cluster.name,
            pending,
            nodeLog
        };
        const { runtime, clusterNode } = await ClusterNode.join(options, stateFolders(config), load, (loaded, identity)=>contentOf(parts, loaded, identity));
        runtime.facts.kvPool.noteErasures(clusterNode.erasures.upTo(clusterNode.follower.offset));
        return {
            runtime,
            clusterNode: new RetrievalNode(parts, runtime, clusterNode)
        };
    }
    /** From now on changes are entries, and others wait for this node. */ async serve(readiness) {
        const { operations, serving } = this.runtime;
        for (const name of catalogueNames(this.parts.config)){
            operations.changesOf(name).orderBy((changes, how)=>this.change(name, changes, how));
        }
        operations.adapters?.orderBy((act, how)=>this.adapt(act, how));
        operations.weights.orderBy(async (name, how)=>{
            const { value } = await this.node.submit({
                kind: KINDS.WEIGHTS,
                body: {
                    name
                }
            }, how);
            return value;
        });
        serving.erasures.heardFrom(()=>this.node.isCurrent, (userId)=>this.node.erasures.isPending(userId));
        await this.node.serve(readiness);
    }
    erase(erasure, signal) {
        return this.node.erase(erasure, signal);
    }
    async dropVersion(version) {
        const act = {
            kind: KINDS.DROP_VERSION,
            body: {
                version
            }
        };
        return (await this.node.submit(act)).value === true;
    }
    get said() {
        return this.node.said;
    }
    get progress() {
        return this.node.progress;
    }
    close() {
        return this.node.close();
    }
    async change(catalogue, changes, how) {
        const act = {
            kind: KINDS.CHANGES,
            body: {
                catalogue,
                changes
            }
        };
        const { offset, value, isRepeat } = await this.node.submit(act, how);
        const applied = value ?? NOTHING_KNOWN;
        return {
            ...applied,
            alreadyApplied: applied.alreadyApplied || isRepeat,
            offset
        };
    }
    async adapt(act, how) {
        const { adapters } = this.runtime.operations;
        if (act.act === 'receive' && adapters !== undefined) {
            const folder = adapters.folderOf(act.version.digest);
            await shareVersion(this.parts.opened.store, folder, act.version);
        }
        return (await this.node.submit({
            kind: KINDS.ADAPTERS,
            body: act
        }, how)).value;
    }
}
/** Of an act whose outcome nobody waited for, or nobody remembers. */ const NOTHING_KNOWN = {
    sequence: 0,
    changeCount: 0,
    matched: new Uint32Array(),
    placed: {
        offsets: Uint32Array.of(0),
        codes: new Uint32Array()
    },
    alreadyApplied: false
};
function catalogueNames({ catalogue }) {
    return [
        '',
        ...parseCatalogueSpecs(catalogue.more).map(({ name })=>name)
    ];
}
/** The parts of the node: ordered ones, and eventual ones. */ function contentOf({ config, opened, eraseRecalls }, runtime, identity) {
    const { operations, facts, serving } = runtime;
    const names = catalogueNames(config);
    const first = operations.changesOf('');
    const beginning = new BeginningPart(operations, names);
    const scratch = join(config.catalogue.changesPath, 'fetched');
    return {
        keeper: {
            mark: ()=>first.state().mark,
            note: (mark)=>first.note(mark)
        },
        ordered: [
            cataloguePart(names, (name)=>operations.changesOf(name)),
            weightsPart(operations.weights),
            poolPart((version)=>facts.kvPool.dropVersion(version)),
            adapterPart(operations.adapters, opened.store, scratch),
            beginning.part
        ],
        eventual: eventualParts({
            log: identity,
            behaviours: operations.behaviourLog,
            eraseRecalls,
            serving,
            budgetMs: config.recall.deadlineMsMax
        }),
        beginning,
        snapshots: snapshotsOf(config, runtime, names)
    };
}
function snapshotsOf({ cluster, catalogue }, { operations }, names) {
    const all = names.map((name)=>operations.changesOf(name));
    return {
        compact: async ()=>{
            for (const changes of all)if (changes.state().sequence > 0) await changes.compact();
        },
        settle: async ()=>{
            for (const changes of all)await changes.settled();
            await operations.adapters?.settled();
        },
        scratch: `${catalogue.changesPath}.snapshot`,
        everyEntries: cluster.logSnapshotEntries,
        keepMs: cluster.logKeepDays * MILLISECONDS_PER_DAY,
        sharedFiles: sharedAdapterFiles(operations.adapters)
    };
}

//# sourceMappingURL=retrieval-node.js.map