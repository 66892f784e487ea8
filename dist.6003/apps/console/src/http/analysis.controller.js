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
import { Controller, Get, Param, Query, Req, Res } from "@nestjs/common";
import { ad, composition, factSchema, items, kept, overview, REWARDS, reach, unreached, versions } from "../../../../libs/insight/analysis/src/index.js";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { attributeOf, FILTER_FIELDS, filterOf } from "../analysis-fields.js";
import { AskedOutcomes, targetOf } from "../asked-outcomes.js";
import { ConsoleParts } from "../console-parts.js";
import { fieldsOf, integerOf, invalid, optionalText, textOf } from "../fields.js";
import { Gate } from "../gate.js";
import { goneSignal } from "../gone-signal.js";
import { UserChanges } from "../user-changes.js";
const ID_LENGTH_MAX = 1024;
const BUCKETS = {
    min: 1,
    max: 200,
    fallback: 48
};
const ROWS = {
    min: 1,
    max: 10_000,
    fallback: 200
};
const PAGE = {
    min: 1,
    max: 500,
    fallback: 50
};
const VALUES = {
    min: 1,
    max: 50,
    fallback: 12
};
const ASKED = {
    min: 1,
    max: 5000,
    fallback: 500
};
const OFFSET = {
    min: 0,
    max: 10_000_000,
    fallback: 0
};
const ANYTIME = {
    min: 0,
    max: Number.MAX_SAFE_INTEGER
};
const NOTHING_KEPT = {
    isKept: false,
    store: 'duckdb',
    keptFromMs: 0,
    keptToMs: 0,
    recalls: 0,
    behaviours: 0,
    bytes: 0,
    files: 0,
    keepMs: 0,
    keepBytes: 0,
    dropped: 0,
    fault: '',
    factShare: 0,
    recordShare: 0,
    sceneKeys: [],
    attributes: []
};
export class AnalysisController {
    parts;
    gate;
    userChanges;
    outcomes;
    constructor(parts, gate, userChanges, outcomes){
        this.parts = parts;
        this.gate = gate;
        this.userChanges = userChanges;
        this.outcomes = outcomes;
    }
    async about(request) {
        await this.gate.look(request);
        const { analysis } = this.parts;
        if (analysis === undefined) return NOTHING_KEPT;
        await analysis.refresh();
        const { bytes, files, dropped, failed, fault } = await analysis.state();
        const { keepMs, keepBytes, recordShare } = analysis;
        const own = await kept(analysis.asking);
        const limits = {
            keepMs,
            keepBytes,
            recordShare,
            factShare: 1,
            isKept: true
        };
        const store = analysis.asking.store.dialect.name;
        const state = {
            store,
            bytes,
            files,
            dropped: dropped + failed,
            fault
        };
        return Object.assign(limits, state, own);
    }
    async schema(request) {
        await this.gate.look(request);
        return {
            tables: factSchema()
        };
    }
    async overview(request, query, reply) {
        const { asking, fields } = await this.asked(request, query, [
            'buckets'
        ], reply);
        return overview(asking, this.filter(fields), integerOf(fields, 'buckets', BUCKETS));
    }
    async composition(request, query, reply) {
        const names = [
            'by',
            'buckets',
            'across',
            'values'
        ];
        const { asking, fields } = await this.asked(request, query, names, reply);
        const attribute = attributeOf(fields, 'by');
        if (attribute === '') throw invalid('by', 'the name of an attribute', 'nothing');
        return composition(asking, this.filter(fields), {
            attribute,
            buckets: integerOf(fields, 'buckets', BUCKETS),
            across: attributeOf(fields, 'across'),
            values: integerOf(fields, 'values', VALUES)
        });
    }
    async reach(request, query, reply) {
        const { asking, fields } = await this.asked(request, query, [
            'by',
            'at',
            'limit'
        ], reply);
        const filter = this.filter(fields);
        const atMs = integerOf(fields, 'at', ANYTIME);
        if (atMs <= filter.fromMs || atMs >= filter.toMs) {
            throw invalid('at', `a time between ${filter.fromMs} and ${filter.toMs}`, atMs);
        }
        const by = attributeOf(fields, 'by') || 'item';
        return reach(asking, filter, {
            by,
            atMs,
            limit: integerOf(fields, 'limit', ROWS)
        });
    }
    async unreached(request, query, reply) {
        const { asking, fields } = await this.asked(request, query, [
            'by',
            'limit'
        ], reply);
        const limit = integerOf(fields, 'limit', ROWS);
        return unreached(asking, this.filter(fields), {
            by: attributeOf(fields, 'by'),
            limit
        });
    }
    async versions(request, query, reply) {
        const { asking, fields } = await this.asked(request, query, [
            'by',
            'arms'
        ], reply);
        const { arms = 'together' } = fields;
        if (arms !== 'together' && arms !== 'span') throw invalid('arms', 'together or span', arms);
        const attribute = attributeOf(fields, 'by');
        return versions(asking, this.filter(fields), {
            attribute,
            isWhole: arms === 'span'
        });
    }
    /** Estimates of a target, for which recorded recalls that explored are asked again. */ async outcome(request, query, reply) {
        const { asking, fields } = await this.asked(request, query, [
            'what',
            'reward',
            'recalls'
        ], reply);
        const { reward = 'click' } = fields;
        const rewards = REWARDS.find((one)=>one === reward);
        if (rewards === undefined) throw invalid('reward', REWARDS.join(', '), reward);
        return this.outcomes.page(asking, this.filter(fields), {
            target: targetOf(textOf(fields, 'what', ID_LENGTH_MAX)),
            reward: rewards,
            recallsMax: integerOf(fields, 'recalls', ASKED)
        });
    }
    async ad(request, id, query, reply) {
        const { asking, fields } = await this.asked(request, query, [], reply);
        return ad(asking, this.filter(fields), id.slice(0, ID_LENGTH_MAX));
    }
    async items(request, query, reply) {
        const names = [
            'text',
            'live',
            'offset',
            'limit'
        ];
        const { asking, fields } = await this.asked(request, query, names, reply);
        const { live } = fields;
        if (live !== undefined && live !== 'true' && live !== 'false') {
            throw invalid('live', 'true or false', live);
        }
        return items(asking, this.filter(fields), {
            text: optionalText(fields, 'text', ID_LENGTH_MAX) ?? '',
            isLive: live === undefined ? undefined : live === 'true',
            offset: integerOf(fields, 'offset', OFFSET),
            limit: integerOf(fields, 'limit', PAGE)
        });
    }
    /** Why two recorded recalls of a user differ. */ async change(request, query, reply) {
        await this.gate.look(request);
        const fields = fieldsOf(query, [
            'left',
            'right'
        ]);
        const [left, right] = [
            'left',
            'right'
        ].map((name)=>textOf(fields, name, ID_LENGTH_MAX));
        return this.userChanges.between(left ?? '', right ?? '', goneSignal(reply));
    }
    filter(fields) {
        return filterOf(fields, this.parts.nowMs());
    }
    kept() {
        const { analysis } = this.parts;
        if (analysis !== undefined) return analysis;
        const message = 'inspection.path: expected a folder of facts, got none';
        throw new TesseraError('STORE_UNAVAILABLE', message, {
            field: 'inspection.path'
        });
    }
    async asked(request, query, names, reply) {
        await this.gate.look(request);
        const fields = fieldsOf(query, [
            ...FILTER_FIELDS,
            ...names
        ]);
        const { asking, refresh } = this.kept();
        await refresh();
        return {
            asking: Object.assign({
                signal: goneSignal(reply)
            }, asking),
            fields
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
], AnalysisController.prototype, "about", null);
_ts_decorate([
    Get('schema'),
    _ts_param(0, Req()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest
    ]),
    _ts_metadata("design:returntype", Promise)
], AnalysisController.prototype, "schema", null);
_ts_decorate([
    Get('overview'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
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
], AnalysisController.prototype, "overview", null);
_ts_decorate([
    Get('composition'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
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
], AnalysisController.prototype, "composition", null);
_ts_decorate([
    Get('reach'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
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
], AnalysisController.prototype, "reach", null);
_ts_decorate([
    Get('unreached'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
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
], AnalysisController.prototype, "unreached", null);
_ts_decorate([
    Get('versions'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
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
], AnalysisController.prototype, "versions", null);
_ts_decorate([
    Get('outcomes'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
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
], AnalysisController.prototype, "outcome", null);
_ts_decorate([
    Get('ads/:id'),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_param(2, Query()),
    _ts_param(3, Res({
        passthrough: true
    })),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String,
        Object,
        typeof FastifyReply === "undefined" ? Object : FastifyReply
    ]),
    _ts_metadata("design:returntype", Promise)
], AnalysisController.prototype, "ad", null);
_ts_decorate([
    Get('items'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
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
], AnalysisController.prototype, "items", null);
_ts_decorate([
    Get('change'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
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
], AnalysisController.prototype, "change", null);
AnalysisController = _ts_decorate([
    Controller('console/api/analysis'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate,
        typeof UserChanges === "undefined" ? Object : UserChanges,
        typeof AskedOutcomes === "undefined" ? Object : AskedOutcomes
    ])
], AnalysisController);

//# sourceMappingURL=analysis.controller.js.map