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
import { Body, Controller, HttpCode, Post, Req, Res } from "@nestjs/common";
import { ConsoleParts } from "../console-parts.js";
import { Gate } from "../gate.js";
import { goneSignal } from "../gone-signal.js";
export class ConsoleRelevanceController {
    parts;
    gate;
    constructor(parts, gate){
        this.parts = parts;
        this.gate = gate;
    }
    /** The body is that of `POST /v1/rerank`. Changes nothing. */ async score(request, body, reply) {
        await this.gate.ask(request);
        return this.parts.scoreTexts(body, goneSignal(reply));
    }
}
_ts_decorate([
    Post(),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Body()),
    _ts_param(2, Res({
        passthrough: true
    })),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        Object,
        typeof FastifyReply === "undefined" ? Object : FastifyReply
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleRelevanceController.prototype, "score", null);
ConsoleRelevanceController = _ts_decorate([
    Controller('console/api/relevance'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate
    ])
], ConsoleRelevanceController);

//# sourceMappingURL=relevance.controller.js.map