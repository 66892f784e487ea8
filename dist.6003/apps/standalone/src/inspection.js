import { join } from "node:path";
import { repositoryRoot } from "../../../libs/ops/config/src/index.js";
import { ChildFactStore } from "../../../libs/insight/facts/src/index.js";
import { ChildInspectionStore, InspectedRecalls, parseWatchedUsers } from "../../../libs/insight/inspection/src/index.js";
import { MEBIBYTE, MILLISECONDS_PER_HOUR } from "../../../libs/ops/units/src/index.js";
const PULSE_MS = 5000;
/** The program of the processes behind the store. */ const PROGRAM = join(repositoryRoot, 'dist', 'apps', 'inspection', 'src', 'main.js');
/** Bytes of memory of the database of recorded recalls. */ const RECORDER_BYTES = 256 * MEBIBYTE;
/** Recalls that wait to be recorded: some seconds of a busy node; further ones are left out. */ const QUEUE_MAX = 1000;
/** Limits of SQL queries and exports, each in a process of its own. */ const QUERY_LIMITS = {
    /** At once: questions of pages, and queries of people. */ pagesMax: 3,
    sqlMax: 3,
    /** Milliseconds that a query waits for its turn; then it is refused. */ waitMs: 30_000,
    /** Bytes of memory of one query; a query that needs more is ended. */ memoryBytes: 512 * MEBIBYTE,
    /** Bytes that one query may spill to disk, and that its export may have. */ diskBytes: 2 ** 30,
    /** Bytes of the rows of an answer; further rows are left out. */ answerBytesMax: 4 * MEBIBYTE
};
/** Behind everything that serves, and not starved by it. */ const NICENESS = {
    recorder: 5,
    query: 5
};
export function beginInspection(config, log) {
    const opened = openInspection(config, log);
    const unlessFailed = opened.catch(()=>undefined);
    const eraseUser = async (userId)=>(await opened)?.eraseUser(userId) ?? 0;
    return {
        opened,
        eraseUser: config.inspection.path === '' ? undefined : eraseUser,
        close: async ()=>(await unlessFailed)?.close()
    };
}
/**
 * Undefined where the configuration says that nothing is recorded. A store that is not to be had is
 * logged, tried again, and does not keep the service from serving.
 */ export async function openInspection(config, log) {
    const { path, keepHours, keepBytes } = config.inspection;
    if (path === '') return undefined;
    const sceneKeys = [];
    // Of facts that the process before this one has lost.
    let early = 0;
    let counts = {
        records: ()=>undefined,
        facts: (_outcome, count)=>{
            early += count;
        }
    };
    const openStore = ChildInspectionStore.open({
        program: PROGRAM,
        niceness: NICENESS,
        path,
        memoryBytes: RECORDER_BYTES,
        queueMax: QUEUE_MAX,
        retention: {
            ageMsMax: keepHours * MILLISECONDS_PER_HOUR,
            bytesMax: keepBytes
        },
        queries: QUERY_LIMITS,
        facts: {
            folder: join(path, 'facts'),
            sceneKeys
        },
        onRecords: (outcome, count)=>counts.records(outcome, count),
        onFault: (thrown)=>log.error({
                err: thrown
            }, 'the inspection store failed')
    });
    const openFactStore = openFacts(config, log, (outcome, count)=>counts.facts(outcome, count));
    const [store, facts] = await Promise.all([
        openStore,
        openFactStore
    ]);
    if (store.condition().state !== 'ok') log.error({}, 'recalls are not recorded');
    return {
        store,
        facts,
        eraseUser: async (userId)=>{
            await facts.eraseUser(userId);
            return store.eraseUser(userId);
        },
        close: async (budgetMs)=>{
            await Promise.all([
                store.close(budgetMs),
                facts.close(budgetMs)
            ]);
        },
        showScenes: (keys)=>{
            sceneKeys.splice(0, sceneKeys.length, ...keys);
        },
        countWith: (wanted)=>{
            counts = wanted;
            wanted.facts('dropped', early);
        }
    };
}
/** Rows that wait for their process at most: some seconds of a busy node; further ones are lost. */ const FACTS_QUEUE_MAX = 20_000;
const FACTS_BYTES = 256 * MEBIBYTE;
const FACT_LIMITS = {
    /** Rows of a file, of which there is one a minute or more. */ fileRowsMax: 50_000,
    /** Rows that wait for a disk that takes none. */ waitingRowsMax: 200_000,
    /** Milliseconds that a file which was merged is kept for exports that read it. */ graceMs: 310_000
};
function openFacts({ inspection: { path, keepHours, keepBytes }, node }, log, onFacts) {
    return ChildFactStore.open({
        program: [
            PROGRAM,
            'facts',
            String(NICENESS.recorder)
        ],
        path: join(path, 'facts'),
        node: node.name,
        memoryBytes: FACTS_BYTES,
        queueMax: FACTS_QUEUE_MAX,
        ...FACT_LIMITS,
        keepMs: keepHours * MILLISECONDS_PER_HOUR,
        keepBytes,
        onFacts,
        onFault: (thrown)=>log.error({
                err: thrown
            }, 'facts of recalls are not written')
    });
}
/** From now on records are counted, and the store is one of the conditions of the process. */ export function watchInspection(inspection, metrics, readiness) {
    if (inspection === undefined) return;
    const { store, facts } = inspection;
    inspection.countWith({
        records: (outcome, count)=>metrics.countKept('records', outcome, count),
        facts: (outcome, count)=>metrics.countKept('facts', outcome, count)
    });
    const read = ()=>store.condition();
    readiness.conditions.add({
        name: 'inspection',
        kind: 'store',
        isNeeded: false,
        read
    });
    const readFacts = ()=>{
        const reason = facts.condition();
        return reason === '' ? {
            state: 'ok',
            reason
        } : {
            state: 'down',
            reason
        };
    };
    readiness.conditions.add({
        name: 'facts',
        kind: 'store',
        isNeeded: false,
        read: readFacts
    });
}
/** Recalls of the service, some of which are recorded. */ export function inspected({ inspection }, { serving, operations }, store, onTried) {
    return new InspectedRecalls({
        serving,
        store,
        onTried: (request, outcome)=>onTried({
                timeMs: Date.now(),
                edge: 'console',
                request,
                outcome
            }),
        rules: {
            percent: inspection.percent,
            users: parseWatchedUsers(inspection.users)
        },
        catalogueSequence: ()=>operations.changesOf('').state().sequence,
        nowMs: Date.now,
        draw: Math.random,
        pulseMs: PULSE_MS
    });
}

//# sourceMappingURL=inspection.js.map