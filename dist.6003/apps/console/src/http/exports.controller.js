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
import { createReadStream } from "node:fs";
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from "@nestjs/common";
import { EXPORT_FORMATS, SQL_LENGTH_MAX } from "../../../../libs/insight/inspection/src/index.js";
import { Audits } from "../audits.js";
import { ExportJobs } from "../export-jobs.js";
import { fieldsOf, invalid, textOf } from "../fields.js";
import { Gate } from "../gate.js";
const MEDIA_TYPES = {
    csv: 'text/csv; charset=utf-8',
    parquet: 'application/vnd.apache.parquet',
    arrow: 'application/vnd.apache.arrow.file'
};
export class ExportsController {
    gate;
    audits;
    jobs;
    constructor(gate, audits, jobs){
        this.gate = gate;
        this.audits = audits;
        this.jobs = jobs;
    }
    async begin(request, body) {
        const visitor = await this.gate.ask(request);
        const fields = fieldsOf(body, [
            'sql',
            'format'
        ]);
        const sql = textOf(fields, 'sql', SQL_LENGTH_MAX);
        const format = formatOf(fields.format ?? 'csv');
        await this.audits.note(visitor, {
            action: 'export',
            name: format,
            detail: sql
        }, 'OK');
        return this.jobs.begin(sql, format, visitor.name);
    }
    async state(request, id) {
        await this.gate.look(request);
        return this.jobs.state(id);
    }
    async file(request, id, reply) {
        await this.gate.look(request);
        const { file, format } = this.jobs.file(id);
        const stream = createReadStream(file.path);
        const cut = ()=>stream.destroy(new Error('the export is not sent any further'));
        file.ended.addEventListener('abort', cut, {
            once: true
        });
        void reply.header('content-type', MEDIA_TYPES[format]).header('content-disposition', `attachment; filename="tessera.${format}"`).send(stream);
    }
    async remove(request, id) {
        await this.gate.ask(request);
        return {
            removed: await this.jobs.remove(id)
        };
    }
}
_ts_decorate([
    Post(),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Body()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], ExportsController.prototype, "begin", null);
_ts_decorate([
    Get(':id'),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String
    ]),
    _ts_metadata("design:returntype", Promise)
], ExportsController.prototype, "state", null);
_ts_decorate([
    Get(':id/file'),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_param(2, Res()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String,
        typeof FastifyReply === "undefined" ? Object : FastifyReply
    ]),
    _ts_metadata("design:returntype", Promise)
], ExportsController.prototype, "file", null);
_ts_decorate([
    Delete(':id'),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String
    ]),
    _ts_metadata("design:returntype", Promise)
], ExportsController.prototype, "remove", null);
ExportsController = _ts_decorate([
    Controller('console/api/exports'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof Gate === "undefined" ? Object : Gate,
        typeof Audits === "undefined" ? Object : Audits,
        typeof ExportJobs === "undefined" ? Object : ExportJobs
    ])
], ExportsController);
function formatOf(format) {
    const found = EXPORT_FORMATS.find((one)=>one === format);
    if (found === undefined) throw invalid('format', EXPORT_FORMATS.join(', '), format);
    return found;
}

//# sourceMappingURL=exports.controller.js.map