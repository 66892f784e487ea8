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
import { Controller, Inject, UseFilters } from "@nestjs/common";
import { EventPattern } from "@nestjs/microservices";
import { ChangeAudits } from "../../../../libs/edge/access/src/index.js";
import { catalogueEventsPackage, protoSchema } from "../../../../libs/ops/contracts/src/index.js";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { checkVersion, MessageCodec, RecordProducer, readRecords, TopicErrorFilter } from "../../../../libs/ops/kafka/src/index.js";
import { RecallOperations } from "../../../../libs/service/recall/src/index.js";
import { Metrics } from "../../../../libs/ops/telemetry/src/index.js";
import { parseWireChanges } from "../wire/catalogue.mapper.js";
import { AppliedRecords } from "./applied-records.js";
import { changeRuns } from "./change-runs.js";
export const CATALOGUE_CHANGES_PATTERN = 'catalogue.changes';
const PAYLOAD_VERSION = '1';
/** The source that changes from the topic are recorded with. */ const TOPIC_SOURCE = 'topic';
const TOPIC_ACTOR = 'topic';
export class CatalogueTopicController {
    operations;
    metrics;
    changes;
    producer;
    codec = new MessageCodec(protoSchema, `${catalogueEventsPackage}.CatalogueChanged`);
    applied = new AppliedRecords();
    constructor(operations, metrics, changes, producer){
        this.operations = operations;
        this.metrics = metrics;
        this.changes = changes;
        this.producer = producer;
    }
    /** Resolves when what can be applied is kept and visible, in its order, and the rest buried. */ async apply({ records }) {
        const [first] = records;
        if (first !== undefined) this.applied.forgetBefore(first);
        const later = records.filter((record)=>!this.applied.has(record));
        const { contents, dead } = readRecords(later, (record)=>this.messageOf(record));
        for (const run of changeRuns(contents)){
            for (const grave of (await this.applyRun(run)))dead.push(grave);
        }
        await this.producer.bury(dead);
        this.metrics.countChangeMessages('dead', dead.length);
    }
    messageOf(record) {
        checkVersion(record, PAYLOAD_VERSION);
        const { catalogue, changes } = this.codec.decode(record.value);
        return {
            record,
            catalogue,
            changes: parseWireChanges(changes)
        };
    }
    /** All at once; where that is refused one by one, to bury the guilty alone. */ async applyRun(run, refusedAt) {
        let entry;
        const onEntry = (offset)=>{
            entry = offset;
        };
        const catalogue = run[0]?.catalogue ?? '';
        try {
            const given = run.filter(({ changes })=>changes.length > 0);
            if (given.length > 0) {
                const records = given.map(({ record, changes })=>({
                        id: idOf(record),
                        changes
                    }));
                const own = this.operations.changesOf(catalogue);
                const applied = await own.applyRecords(records, TOPIC_SOURCE, {
                    refusedAt,
                    onEntry
                });
                const { changeCount, sequence } = applied;
                this.note(catalogue, `${changeCount} changes, sequence ${sequence}`, 'OK');
            }
            for (const { record } of run)this.applied.add(record);
            this.metrics.countChangeMessages('applied', run.length);
            return [];
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            if (!REFUSALS.has(error.code)) throw error;
            const [first, ...rest] = run;
            if (first !== undefined && rest.length === 0) {
                this.note(catalogue, error.message, error.code);
                return [
                    {
                        record: first.record,
                        error
                    }
                ];
            }
        }
        const dead = [];
        for (const message of run)dead.push(...await this.applyRun([
            message
        ], entry));
        return dead;
    }
    /** Only the broker knows the writer of a record. */ note(name, detail, outcome) {
        const change = {
            action: 'apply-changes',
            actor: TOPIC_ACTOR,
            edge: 'kafka',
            name
        };
        this.changes.note({
            ...change,
            detail
        }, outcome);
    }
}
_ts_decorate([
    EventPattern(CATALOGUE_CHANGES_PATTERN),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof RecordBatch === "undefined" ? Object : RecordBatch
    ]),
    _ts_metadata("design:returntype", Promise)
], CatalogueTopicController.prototype, "apply", null);
CatalogueTopicController = _ts_decorate([
    Controller(),
    UseFilters(TopicErrorFilter),
    _ts_param(3, Inject(RecordProducer)),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof RecallOperations === "undefined" ? Object : RecallOperations,
        typeof Metrics === "undefined" ? Object : Metrics,
        typeof ChangeAudits === "undefined" ? Object : ChangeAudits,
        typeof RecordProducer === "undefined" ? Object : RecordProducer
    ])
], CatalogueTopicController);
/** By its time too: a topic that was made anew begins with the offsets of the old one. */ function idOf({ topic, partition, offset, timestampMs }) {
    return `${topic} ${partition} ${offset} ${timestampMs}`;
}
/** Errors that refuse a message for good; others may pass. */ const REFUSALS = new Set([
    'CATALOGUE_INVALID',
    'ITEM_NOT_FOUND',
    'REQUEST_INVALID'
]);

//# sourceMappingURL=catalogue-topic.controller.js.map