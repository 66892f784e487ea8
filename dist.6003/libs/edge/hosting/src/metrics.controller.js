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
import { Controller, Get, Header } from "@nestjs/common";
import { Metrics } from "../../../ops/telemetry/src/index.js";
export class MetricsController {
    metrics;
    constructor(metrics){
        this.metrics = metrics;
    }
    text() {
        return this.metrics.text();
    }
}
_ts_decorate([
    Get(),
    Header('content-type', 'text/plain; version=0.0.4; charset=utf-8'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", []),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], MetricsController.prototype, "text", null);
MetricsController = _ts_decorate([
    Controller('metrics'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof Metrics === "undefined" ? Object : Metrics
    ])
], MetricsController);

//# sourceMappingURL=metrics.controller.js.map