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
import { RecallRequests, TopicErrorFilter } from "../../../../libs/ops/kafka/src/index.js";
import { ForwardedBehaviours } from "./forwarded-behaviours.js";
export const RECALLS_PATTERN = 'recalls';
export const BEHAVIOURS_PATTERN = 'behaviours';
export class TopicsController {
    requests;
    behaviours;
    constructor(requests, behaviours){
        this.requests = requests;
        this.behaviours = behaviours;
    }
    serve(batch) {
        return this.requests.serve(batch);
    }
    store({ records }) {
        return this.behaviours.store(records);
    }
}
_ts_decorate([
    EventPattern(RECALLS_PATTERN),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof RecordBatch === "undefined" ? Object : RecordBatch
    ]),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], TopicsController.prototype, "serve", null);
_ts_decorate([
    EventPattern(BEHAVIOURS_PATTERN),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof RecordBatch === "undefined" ? Object : RecordBatch
    ]),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], TopicsController.prototype, "store", null);
TopicsController = _ts_decorate([
    Controller(),
    UseFilters(TopicErrorFilter),
    _ts_param(0, Inject(RecallRequests)),
    _ts_param(1, Inject(ForwardedBehaviours)),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof RecallRequests === "undefined" ? Object : RecallRequests,
        typeof ForwardedBehaviours === "undefined" ? Object : ForwardedBehaviours
    ])
], TopicsController);

//# sourceMappingURL=topics.controller.js.map