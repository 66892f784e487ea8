import { CANARY_RULES, DEFAULT_ADAPTER, NORM_MAX, RANK_MAX, VERSION_BYTES_MAX } from "../../../libs/service/adapter/src/index.js";
import { topicNames } from "../../../libs/ops/kafka/src/index.js";
import { AdapterAudits, AdapterEdge, WeightsEdge } from "../../retrieval/src/index.js";
/** Events of adapters, kept until the edges listen: adapters are there before edges. */ export class AdapterEventRelay {
    waiting = [];
    listener;
    tell = (event)=>{
        if (this.listener === undefined) this.waiting.push(event);
        else this.listener(event);
    };
    listen(listener) {
        this.listener = listener;
        for (const event of this.waiting.splice(0))listener(event);
    }
}
/** Users that a new version answers where no golden set is given: under a second of recalls. */ const GOLDEN_USERS = 16;
/** Users whose keys and values are computed before a switch: those who come most often. */ const WARM_USERS = 256;
/** Milliseconds of that computation, which delays the switch. */ const WARM_MS = 10_000;
/** The slice of the configuration that adapters are composed from; undefined: none are kept. */ export function adapterSettings({ adapters }, onEvent) {
    const { path, diskBytes, goldenPath } = adapters;
    if (path === '') return undefined;
    const limits = {
        rankMax: RANK_MAX,
        normMax: NORM_MAX,
        versionBytesMax: VERSION_BYTES_MAX,
        diskBytesMax: diskBytes
    };
    return {
        registry: {
            folder: path,
            defaultName: DEFAULT_ADAPTER,
            limits
        },
        rollout: {
            golden: {
                path: goldenPath,
                userCount: GOLDEN_USERS
            },
            watch: {
                rules: CANARY_RULES
            },
            warmUsers: WARM_USERS,
            warmMs: WARM_MS
        },
        onEvent
    };
}
/** The edges of adapters and weights; what adapters tell of themselves is audited as well. */ export function modelEdgesOf({ config, operations, log, adapterEvents }, access, producer, metrics, readiness) {
    const { adapters, weights } = operations;
    const { adapterEventsTopic: topic } = topicNames(config.kafka.topicPrefix);
    const events = producer && {
        producer,
        topic
    };
    const { audits: lines } = access.process;
    const audits = new AdapterAudits({
        audits: lines,
        metrics,
        log,
        events,
        nowMs: Date.now
    });
    const edge = new AdapterEdge({
        adapters,
        audits
    });
    adapterEvents?.listen((event)=>{
        void edge.note(event);
    });
    if (adapters !== undefined) metrics.showAdapters(()=>adapters.counts());
    const weightsEdge = new WeightsEdge({
        weights,
        audits,
        readiness
    });
    return {
        adapters: edge,
        weights: weightsEdge
    };
}

//# sourceMappingURL=adapters.js.map