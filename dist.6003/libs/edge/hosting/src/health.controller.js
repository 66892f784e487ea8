function _ts_decorate(decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") {
        r = Reflect.decorate(decorators, target, key, desc);
    } else {
        for(var i = decorators.length - 1; i >= 0; i--){
            if (d = decorators[i]) {
                r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
            }
        }
    }
    return c > 3 && r && Object.defineProperty(target, key, r), r;
}
function _ts_metadata(metadataKey, metadataValue) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") {
        return Reflect.metadata(metadataKey, metadataValue);
    }
}
function _ts_param(paramIndex, decorator) {
    return function(target, key) {
        decorator(target, key, paramIndex);
    };
}
import { Controller, Get, Res } from "@nestjs/common";
import { Readiness } from "../../../ops/lifecycle/src/index.js";
import { ServedVersions } from "./served-versions.js";
const OK = 200;
const UNAVAILABLE = 503;
/** Reports of a process on its own work in `/health`. DI token. */ export class OwnState {
    /** Users' chains in the KV pool; undefined: the process has none. */ chains;
    /** Undefined, or undefined from it: keys and values of users are its own. */ kvStore;
    /** Undefined: the process scores no texts. */ relevance;
    /** Undefined: it follows no log. */ clusterLog;
    constructor({ chains, kvStore, relevance, clusterLog }){
        this.chains = chains;
        this.kvStore = kvStore;
        this.relevance = relevance;
        this.clusterLog = clusterLog;
    }
    /** Of each that the process has. */ read() {
        const { chains, kvStore, relevance, clusterLog } = this;
        const all = {
            chains: chains?.(),
            kvStore: kvStore?.(),
            relevance: relevance?.(),
            clusterLog: clusterLog?.()
        };
        return Object.fromEntries(Object.entries(all).filter(([, value])=>value !== undefined));
    }
}
export class HealthController {
    readiness;
    served;
    own;
    constructor(readiness, served, own){
        this.readiness = readiness;
        this.served = served;
        this.own = own;
    }
    /** 200 while requests are taken, else 503. */ ready(reply) {
        reply.status(this.readiness.ready ? OK : UNAVAILABLE);
        return this.answer();
    }
    /** 200 while the process runs. */ live() {
        return this.answer();
    }
    answer() {
        const { ready, state: own, reason } = this.readiness;
        // It has started and takes calls: something that most of them need is away.
        const state = own === 'ready' && !ready ? 'blocked' : own;
        const why = reason === '' ? {} : {
            reason
        };
        const conditions = this.readiness.conditions.all();
        const { versions } = this.served;
        return {
            live: true,
            ready,
            state,
            ...why,
            conditions,
            versions,
            ...this.own.read()
        };
    }
}
_ts_decorate([
    Get([
        '',
        'ready'
    ]),
    _ts_param(0, Res({
        passthrough: true
    })),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyReply === "undefined" ? Object : FastifyReply
    ]),
    _ts_metadata("design:returntype", typeof HealthAnswer === "undefined" ? Object : HealthAnswer)
], HealthController.prototype, "ready", null);
_ts_decorate([
    Get('live'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", []),
    _ts_metadata("design:returntype", typeof HealthAnswer === "undefined" ? Object : HealthAnswer)
], HealthController.prototype, "live", null);
HealthController = _ts_decorate([
    Controller('health'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof Readiness === "undefined" ? Object : Readiness,
        typeof ServedVersions === "undefined" ? Object : ServedVersions,
        typeof OwnState === "undefined" ? Object : OwnState
    ])
], HealthController);

//# sourceMappingURL=health.controller.js.map