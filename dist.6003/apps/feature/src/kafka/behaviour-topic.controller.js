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
import { behaviourEventsPackage, protoSchema } from "../../../../libs/ops/contracts/src/index.js";
import { checkKey, checkVersion, MessageCodec, RecordProducer, readRecords, TopicErrorFilter } from "../../../../libs/ops/kafka/src/index.js";
import { parseBehaviour } from "../behaviour.mapper.js";
import { BehaviourEdge } from "../behaviour-edge.js";
export const BEHAVIOURS_PATTERN = 'behaviours';
const PAYLOAD_VERSION = '1';
/** Only the broker knows the writer of a record. */ const TOPIC_ACTOR = 'topic';
export class BehaviourTopicController {
    edge;
    producer;
    codec = new MessageCodec(protoSchema, `${behaviourEventsPackage}.BehaviourEvent`);
    constructor(edge, producer){
        this.edge = edge;
        this.producer = producer;
    }
    /** Resolves when all that can be stored is stored and the rest is buried. */ async store({ records }) {
        const { contents, dead } = readRecords(records, (record)=>this.eventOf(record));
        if (contents.length > 0) await this.edge.append(contents, 'kafka', TOPIC_ACTOR);
        await this.producer.bury(dead);
        for (const _ of dead)this.edge.countDead('kafka');
    }
    eventOf(record) {
        checkVersion(record, PAYLOAD_VERSION);
        const event = parseBehaviour(this.codec.decode(record.value).behaviour);
        checkKey(record, event.userId);
        this.edge.check(event);
        return event;
    }
}
_ts_decorate([
    EventPattern(BEHAVIOURS_PATTERN),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof RecordBatch === "undefined" ? Object : RecordBatch
    ]),
    _ts_metadata("design:returntype", Promise)
], BehaviourTopicController.prototype, "store", null);
BehaviourTopicController = _ts_decorate([
    Controller(),
    UseFilters(TopicErrorFilter),
    _ts_param(1, Inject(RecordProducer)),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof BehaviourEdge === "undefined" ? Object : BehaviourEdge,
        typeof RecordProducer === "undefined" ? Object : RecordProducer
    ])
], BehaviourTopicController);

//# sourceMappingURL=behaviour-topic.controller.js.map