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
import { Controller, Get, Req } from "@nestjs/common";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { ConsoleParts } from "../console-parts.js";
import { Gate } from "../gate.js";
export class ConsoleClusterController {
    parts;
    gate;
    constructor(parts, gate){
        this.parts = parts;
        this.gate = gate;
    }
    /** The nodes of the cluster that this node is one of, as its gateway sees them. */ async cluster(request) {
        await this.gate.look(request);
        const { gateway, state } = this.parts.cluster;
        if (gateway === '') return {
            gateway,
            table: null,
            fault: ''
        };
        try {
            return {
                gateway,
                table: await state(),
                fault: ''
            };
        } catch (thrown) {
            return {
                gateway,
                table: null,
                fault: TesseraError.from(thrown).message
            };
        }
    }
}
_ts_decorate([
    Get('cluster'),
    _ts_param(0, Req()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleClusterController.prototype, "cluster", null);
ConsoleClusterController = _ts_decorate([
    Controller('console/api'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate
    ])
], ConsoleClusterController);

//# sourceMappingURL=cluster.controller.js.map