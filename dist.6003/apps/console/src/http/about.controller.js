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
import { Controller, Get, Query, Req } from "@nestjs/common";
import { MILLISECONDS_PER_MINUTE } from "../../../../libs/ops/units/src/index.js";
import { canaryViews } from "../adapter-views.js";
import { ConsoleParts } from "../console-parts.js";
import { fieldsOf, integerOf } from "../fields.js";
import { Gate } from "../gate.js";
const MINUTES_MAX = 24 * 60;
const TIME_BOUNDS = {
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    fallback: 0
};
export class AboutController {
    parts;
    gate;
    constructor(parts, gate){
        this.parts = parts;
        this.gate = gate;
    }
    /** The versions that are served, and the person who asks. */ async about(request) {
        const visitor = await this.gate.look(request);
        const { runtime, readiness, serviceVersion, store, eraseUser } = this.parts;
        const { model, catalogue, promptTemplate } = runtime.facts.summary;
        const { sequence, liveItemCount } = runtime.operations.changesOf('').state();
        return {
            service: serviceVersion,
            state: readiness.state,
            visitor,
            model: {
                family: model.family,
                parameterCount: model.parameterCount,
                computeType: model.computeType,
                instructionSet: model.instructionSet,
                digest: model.digest
            },
            catalogue: {
                digest: catalogue.digest,
                itemCount: catalogue.itemCount,
                pathCount: catalogue.pathCount,
                depth: catalogue.depth,
                sequence,
                liveItemCount
            },
            promptTemplate: {
                name: promptTemplate.name,
                digest: promptTemplate.digest
            },
            isRecording: store !== undefined,
            canErase: eraseUser !== undefined
        };
    }
    /** How the service fared in the last minutes, or since what the page has already. */ async live(request, query) {
        await this.gate.look(request);
        const { recalls, runtime, store, nowMs } = this.parts;
        const fields = fieldsOf(query, [
            'minutes',
            'afterMs'
        ]);
        const minutes = integerOf(fields, 'minutes', {
            min: 1,
            max: MINUTES_MAX,
            fallback: 60
        });
        const afterMs = integerOf(fields, 'afterMs', TIME_BOUNDS);
        const { queued, running } = runtime.facts.engineStats();
        const from = nowMs() - minutes * MILLISECONDS_PER_MINUTE;
        const pulses = await recalls.pulsesSince(Math.max(from, afterMs));
        return {
            pulses: pulses.filter(({ timeMs })=>timeMs > afterMs),
            engine: {
                queued,
                running
            },
            store: await store?.state(),
            canaries: canaryViews(runtime.operations.adapters)
        };
    }
}
_ts_decorate([
    Get('about'),
    _ts_param(0, Req()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest
    ]),
    _ts_metadata("design:returntype", Promise)
], AboutController.prototype, "about", null);
_ts_decorate([
    Get('live'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], AboutController.prototype, "live", null);
AboutController = _ts_decorate([
    Controller('console/api'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate
    ])
], AboutController);

//# sourceMappingURL=about.controller.js.map