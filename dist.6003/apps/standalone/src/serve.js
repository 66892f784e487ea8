import { host, STEP_BUDGET_MS, watchClock, watchStores } from "../../../libs/edge/hosting/src/index.js";
import { closing, Readiness } from "../../../libs/ops/lifecycle/src/index.js";
import { loadClassOf } from "../../../libs/cluster/routing/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../libs/ops/units/src/index.js";
import { checkVisitor, servePages } from "../../console/src/index.js";
import { behaviourMethods } from "../../feature/src/index.js";
import { retrievalMethods } from "../../retrieval/src/index.js";
import { openAccess } from "./access.js";
import { ClusterSeat } from "./cluster-seat.js";
import { compose } from "./compose.js";
import { PAGES_FOLDER } from "./console.js";
import { serveDocs } from "./docs-page.js";
import { nothingHeld } from "./held-while-idle.js";
import { watchKvPool } from "./kv-watch.js";
import { StandaloneModule } from "./standalone.module.js";
/** A busy disk takes a minute's facts within it; the chart's grace period has room for it. */ const FACTS_BUDGET_MS = 10_000;
/** After the drain time: what is left is cancelled, and its answers are written. */ const CANCEL_BUDGET_MS = 10_000;
/** Finishes or cancels running requests within the budget, then closes everything. */ function drainSteps(hosted, { topics, audits, tracing, feeds, recalls, users, holders }, { runtime, config, inspection, relevance, embedding, clusterNode, stores }, access, endWatch, seat) {
    const { drainMs } = config.shutdown;
    return [
        ...seat.leaving(STEP_BUDGET_MS),
        ...hosted.leaving(config.shutdown),
        {
            name: 'engine drain',
            budgetMs: drainMs + CANCEL_BUDGET_MS,
            act: async ()=>{
                await Promise.all([
                    runtime.drain(drainMs),
                    relevance?.drain(drainMs)
                ]);
            }
        },
        hosted.edgesClosed(CANCEL_BUDGET_MS),
        nothingHeld(holders, STEP_BUDGET_MS),
        ...closing(STEP_BUDGET_MS, {
            watch: endWatch,
            recalls: ()=>recalls.close(),
            users: ()=>users.close(),
            embedding: embedding && (()=>embedding.close()),
            feeds: feeds && (()=>feeds.close())
        }),
        ...closing(FACTS_BUDGET_MS, {
            facts: inspection && ((ms)=>inspection.close(ms))
        }),
        ...closing(STEP_BUDGET_MS, {
            audits: audits && ((ms)=>audits.close(ms)),
            access: ()=>access.process.close(),
            topics: topics && (()=>topics.producer.close()),
            relevance: relevance && (()=>relevance.close()),
            cluster: clusterNode && (()=>clusterNode.close()),
            engine: ()=>runtime.close(),
            stores: stores && (()=>stores.close()),
            tracing: ()=>tracing.close()
        })
    ];
}
/** The provider of logins is a condition, where there is one. */ function watchProvider({ oidc }, { conditions }) {
    if (oidc === undefined) return [];
    const read = ()=>oidc.reach();
    conditions.add({
        name: 'oidc',
        kind: 'dependency',
        isNeeded: false,
        read
    });
    return [
        oidc.watch()
    ];
}
/** Serves a runtime on its edges; ready when it returns, or once the topics are served. */ export async function serve(parts) {
    const { config, runtime, log } = parts;
    const readiness = new Readiness();
    parts.stores?.addTo(readiness.conditions);
    const access = await openAccess(config, runtime.operations, log);
    const composition = await compose(parts, readiness, access);
    await parts.clusterNode?.serve(readiness);
    const { topics, modules, admissions } = composition;
    const hosting = host({
        module: (calls)=>StandaloneModule.register(modules, calls),
        http: {
            ...config.http,
            ...config.edge
        },
        grpc: {
            ...config.grpc,
            ...config.edge
        },
        limits: config.recall,
        admissions,
        loadClass: ()=>loadClassOf(admissions.decoder.waitMs * MICROSECONDS_PER_MILLISECOND),
        methods: (app)=>{
            const { handlers, json } = retrievalMethods(app);
            const behaviours = modules.feature === undefined ? [] : behaviourMethods(app);
            return {
                handlers: new Map([
                    ...handlers,
                    ...behaviours
                ]),
                json
            };
        },
        topicServer: topics?.server,
        readiness,
        access: access.process,
        metrics: modules.operations.metrics,
        peer: config.peer,
        checkVisitor: modules.console && checkVisitor(modules.console),
        log,
        prepare: async (app)=>{
            const instance = app.getHttpAdapter().getInstance();
            await serveDocs(instance, parts.serviceVersion);
            if (modules.console === undefined) return;
            const isThere = await servePages(instance, PAGES_FOLDER);
            if (!isThere) log.warn({
                folder: PAGES_FOLDER
            }, 'the console has no pages: build them');
        }
    });
    const hosted = await hosting.catch(async (error)=>{
        await access.process.close();
        throw error;
    });
    const endLooks = [
        ...watchProvider(access, readiness),
        watchKvPool(()=>runtime.facts.kvPool.metrics(), log),
        watchStores(runtime.operations.stores, readiness, log),
        ...runtime.operations.behaviourLog ? [
            watchClock(readiness.conditions, log)
        ] : []
    ];
    const endWatch = ()=>{
        for (const end of endLooks)end();
    };
    const seat = new ClusterSeat(config, parts.nodeKey);
    const serving = hosted.serving(drainSteps(hosted, composition, parts, access, endWatch, seat));
    try {
        await seat.take(serving, readiness);
    } catch (error) {
        await serving.drain.run();
        throw error;
    }
    return serving;
}

//# sourceMappingURL=serve.js.map