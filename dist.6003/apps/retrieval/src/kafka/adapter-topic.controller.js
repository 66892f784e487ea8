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
import { setTimeout as sleep } from "node:timers/promises";
import { Controller, Inject, UseFilters } from "@nestjs/common";
import { EventPattern } from "@nestjs/microservices";
import { adapterEventsPackage, protoSchema } from "../../../../libs/ops/contracts/src/index.js";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { backoffMs, checkVersion, MessageCodec, RecordProducer, TopicErrorFilter } from "../../../../libs/ops/kafka/src/index.js";
import { AdapterEdge } from "../adapter-edge.js";
export const ANNOUNCEMENTS_PATTERN = 'adapter.announcements';
const PAYLOAD_VERSION = '1';
const ACTOR = 'announcement';
const UNREACHED = 'ADAPTER_SOURCE_UNAVAILABLE';
/** Where announced versions are fetched from, and how often that is tried. DI token. */ export class FetchSource {
    versions;
    attemptsMax;
    constructor(versions, attemptsMax){
        this.versions = versions;
        this.attemptsMax = attemptsMax;
    }
}
/** Errors that refuse an announcement for good; others may pass. */ const REFUSALS = new Set([
    'REQUEST_INVALID',
    'ADAPTER_INVALID',
    'ADAPTER_CORRUPT',
    'ADAPTER_NOT_FOUND',
    'ADAPTER_STATE',
    'MODEL_NOT_FINITE',
    'ADAPTER_SOURCE_DENIED',
    UNREACHED
]);
export class AdapterTopicController {
    edge;
    source;
    producer;
    codec = new MessageCodec(protoSchema, `${adapterEventsPackage}.AdapterAnnounced`);
    constructor(edge, source, producer){
        this.edge = edge;
        this.source = source;
        this.producer = producer;
    }
    /** Resolves when each version is kept and valid, or its announcement is buried. */ async fetch({ records, signal }) {
        for (const record of records){
            try {
                checkVersion(record, PAYLOAD_VERSION);
                await this.take(this.codec.decode(record.value), signal);
            } catch (thrown) {
                // Nothing is wrong with an announcement whose fetch the server's end broke off.
                if (signal.aborted) throw thrown;
                const error = TesseraError.from(thrown);
                if (!REFUSALS.has(error.code)) throw error;
                const dead = {
                    record,
                    error
                };
                await this.producer.bury([
                    dead
                ]);
            }
        }
    }
    async take(announced, signal) {
        const { name, share } = announced;
        const { version } = await this.fetched(announced, signal);
        // An announcement may come twice: what has served is not brought back by the second.
        if (share === 0 || version.state !== 'validated') return;
        const wanted = {
            share,
            isCompared: true,
            isWarmed: true
        };
        await this.edge.activateAs({
            name: ACTOR
        }, {
            name,
            digest: version.digest
        }, wanted);
    }
    /** Its topic waits for a store that is away, for as many attempts as are allowed. */ async fetched(announced, signal) {
        const { versions, attemptsMax } = this.source;
        for(let attempt = 1;; attempt += 1){
            try {
                const parts = ()=>versions.parts(announced, signal);
                return await this.edge.pushNamed({
                    name: ACTOR
                }, announced.name, parts);
            } catch (thrown) {
                const mayPass = TesseraError.from(thrown).code === UNREACHED && attempt < attemptsMax;
                if (!mayPass || signal.aborted) throw thrown;
                await sleep(backoffMs(attempt - 1), undefined, {
                    signal
                });
            }
        }
    }
}
_ts_decorate([
    EventPattern(ANNOUNCEMENTS_PATTERN),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof RecordBatch === "undefined" ? Object : RecordBatch
    ]),
    _ts_metadata("design:returntype", Promise)
], AdapterTopicController.prototype, "fetch", null);
AdapterTopicController = _ts_decorate([
    Controller(),
    UseFilters(TopicErrorFilter),
    _ts_param(1, Inject(FetchSource)),
    _ts_param(2, Inject(RecordProducer)),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof AdapterEdge === "undefined" ? Object : AdapterEdge,
        typeof FetchSource === "undefined" ? Object : FetchSource,
        typeof RecordProducer === "undefined" ? Object : RecordProducer
    ])
], AdapterTopicController);

//# sourceMappingURL=adapter-topic.controller.js.map