import { behaviourFolders, behaviourOptions, openBehaviours } from "../../../libs/service/behaviour/src/index.js";
import { redisPrefix, redisSecurity } from "../../../libs/ops/config/src/index.js";
import { taskDepths } from "../../../libs/engine/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { addBehaviourReach, erasuresCondition, host, ProcessAccess, ServedVersions, STEP_BUDGET_MS, watchClock, watchDisks, watchStores, watchTracing } from "../../../libs/edge/hosting/src/index.js";
import { SERVICE_JSON } from "../../../libs/edge/httpjson/src/index.js";
import { brokerCondition, serveTopics, topicNames, topicSettings } from "../../../libs/ops/kafka/src/index.js";
import { closing, Drain, Readiness } from "../../../libs/ops/lifecycle/src/index.js";
import { Metrics, NO_TRACING, openTracing } from "../../../libs/ops/telemetry/src/index.js";
import { CLOCK } from "../../../libs/ops/units/src/index.js";
import { openClusterLog } from "./cluster-log.js";
import { pendingErasuresOf, retrievalPools } from "./erasure-parts.js";
import { behaviourMethods } from "./feature.module.js";
import { FeatureProcessModule } from "./feature-process.module.js";
import { followLog } from "./follow-log.js";
import { RemotePools } from "./followed-pools.js";
import { BEHAVIOURS_PATTERN } from "./kafka/behaviour-topic.controller.js";
import { KvFollower } from "./kv-follower.js";
import { UserErasure } from "./user-erasure.js";
/** Answers that are still to be written. */ const ANSWERS_BUDGET_MS = 10_000;
const JSON_AS_IS = {
    handlers: new Map(),
    form: SERVICE_JSON
};
function storeOptions(config) {
    const { behaviours, users, disk, model, catalogue } = config;
    const { store } = behaviours;
    if (store === 'embedded' || store === 'redis') {
        const servedWith = {
            modelPath: model.path,
            cataloguePath: catalogue.path
        };
        const keyPrefix = redisPrefix(config);
        const security = redisSecurity(config, behaviours.redis);
        const secured = {
            ...behaviours,
            keyPrefix,
            store,
            redisSecurity: security,
            servedWith
        };
        return behaviourOptions(secured, users.path, disk);
    }
    const message = `behaviours.store: expected embedded or redis, got ${store}`;
    throw new TesseraError('CONFIG_INVALID', message, {
        field: 'behaviours.store'
    });
}
/** Where behaviours can be appended. */ async function openLog({ config, onProgress }) {
    const { log, takeOverUsers } = await openBehaviours(storeOptions(config), onProgress);
    await takeOverUsers();
    if (log !== undefined) return log;
    throw new TesseraError('INTERNAL', 'the store takes no behaviours');
}
function auditPathOf({ access, behaviours }) {
    return access.auditPath === '' ? `${behaviours.path}.audit.jsonl` : access.auditPath;
}
/** Undefined where no broker is named. */ async function behaviourTopic({ config, log }, { conditions }, metrics) {
    const { behavioursTopic } = topicNames(config.kafka.topicPrefix);
    const topics = {
        [BEHAVIOURS_PATTERN]: behavioursTopic
    };
    const onServing = ()=>log.info({}, 'kafka: the topic is served');
    const served = await serveTopics(topicSettings(config), {
        topics,
        outputTopics: [],
        onServing
    }, log);
    if (served === undefined) return undefined;
    conditions.add(brokerCondition(served.server));
    metrics.showTopicLag(()=>served.server.lag());
    return served;
}
function metricsOf({ config, serviceVersion: version }, { conditions }, access, tracing) {
    const metrics = new Metrics();
    metrics.showBuild({
        version,
        app: 'feature'
    });
    watchDisks({
        'behaviours.path': config.behaviours.path
    }, config, metrics);
    metrics.showConditions(()=>conditions.all());
    metrics.showAccess(()=>access.counts());
    metrics.showTasks(taskDepths);
    if (tracing !== NO_TRACING) watchTracing(tracing, conditions, metrics);
    return metrics;
}
/** Erasures that an earlier process left are gone on with. */ async function openErasure({ config, log }, behaviours, follower, readiness) {
    const { opened } = await openClusterLog(config, log);
    if (opened !== undefined) {
        const followed = await followLog(config, opened, behaviours, log);
        await followed.node.serve(readiness);
        const all = {
            withBehaviours: true,
            withRecords: true
        };
        const erasure = {
            erase: (userId)=>followed.node.erase({
                    userId,
                    ...all
                })
        };
        return {
            erasure,
            closeErasure: followed.close
        };
    }
    const pending = await pendingErasuresOf(config);
    const erasure = new UserErasure({
        behaviours,
        follower,
        pending,
        log,
        nowMs: Date.now
    });
    readiness.conditions.add(erasuresCondition(()=>erasure.pendingCount));
    void erasure.retry();
    return {
        erasure,
        closeErasure: ()=>erasure.close()
    };
}
function watched(behaviours, readiness, log) {
    const endStores = watchStores(behaviourFolders(behaviours), readiness, log);
    const endClock = watchClock(readiness.conditions, log);
    return ()=>{
        endStores();
        endClock();
    };
}
/** Appends wait in their topic while the store is away: the process stays ready. */ function showReach({ behaviours: { store } }, { conditions }, behaviours) {
    addBehaviourReach(conditions, {
        store,
        isNeeded: false
    }, ()=>behaviours.reach());
}
function tracingOf({ config, serviceVersion }) {
    return {
        ...config.tracing,
        serviceName: 'tessera-feature',
        serviceVersion
    };
}
/** The feature app as a process of its own: behaviours in, histories out. */ export async function serve(parts) {
    const { config, log, serviceVersion } = parts;
    const access = await ProcessAccess.open(config, auditPathOf(config), log);
    const behaviours = await openLog(parts);
    const tracing = await openTracing(tracingOf(parts), log);
    const readiness = new Readiness();
    const endWatch = watched(behaviours, readiness, log);
    showReach(config, readiness, behaviours);
    const metrics = metricsOf(parts, readiness, access, tracing);
    const topics = await behaviourTopic(parts, readiness, metrics);
    const pools = retrievalPools(config);
    const budgetMs = config.recall.deadlineMsMax;
    const follower = new KvFollower({
        pools: new RemotePools(pools),
        metrics,
        log,
        budgetMs
    });
    const { erasure, closeErasure } = await openErasure(parts, behaviours, follower, readiness);
    const closes = closing(STEP_BUDGET_MS, {
        watch: endWatch,
        erasure: closeErasure,
        pools: ()=>void pools.map(({ client })=>client.close()),
        topics: topics && (()=>topics.producer.close()),
        access: ()=>access.close(),
        store: ()=>behaviours.close(),
        tracing: ()=>tracing.close()
    });
    const versions = new ServedVersions({
        service: serviceVersion
    });
    const operations = {
        readiness,
        metrics,
        versions,
        log
    };
    const feature = {
        behaviours,
        metrics,
        log,
        tracing,
        nowMs: CLOCK.latestMs,
        follower,
        erasure,
        producer: topics?.producer,
        changes: access.changes
    };
    try {
        const hosted = await host({
            module: ()=>FeatureProcessModule.register(operations, feature),
            http: {
                ...config.http,
                ...config.edge
            },
            grpc: {
                ...config.grpc,
                ...config.edge
            },
            limits: config.recall,
            methods: (app)=>({
                    handlers: new Map(behaviourMethods(app)),
                    json: JSON_AS_IS
                }),
            topicServer: topics?.server,
            readiness,
            access,
            metrics,
            peer: config.peer,
            log
        });
        return hosted.serving([
            ...hosted.leaving(config.shutdown),
            hosted.edgesClosed(config.shutdown.drainMs + ANSWERS_BUDGET_MS),
            ...closes
        ]);
    } catch (error) {
        await new Drain(closes, ()=>undefined).run();
        throw error;
    }
}

//# sourceMappingURL=serve.js.map