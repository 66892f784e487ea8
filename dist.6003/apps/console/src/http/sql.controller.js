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
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from "@nestjs/common";
import { SQL_LENGTH_MAX } from "../../../../libs/insight/inspection/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../../../libs/ops/units/src/index.js";
import { ConsoleParts } from "../console-parts.js";
import { fieldsOf, textOf, textsOf } from "../fields.js";
import { checkAuthor, Gate } from "../gate.js";
import { goneSignal } from "../gone-signal.js";
import { Recorded } from "../recorded.js";
const SET_NAME_LENGTH_MAX = 200;
const SET_RECALLS_MAX = 10_000;
export class SqlController {
    parts;
    gate;
    recorded;
    constructor(parts, gate, recorded){
        this.parts = parts;
        this.gate = gate;
        this.recorded = recorded;
    }
    /** One SELECT over the recorded recalls, bounded in time, rows and bytes. */ async query(request, body, reply) {
        const { name: asker } = await this.gate.ask(request);
        const sql = textOf(fieldsOf(body, [
            'sql'
        ]), 'sql', SQL_LENGTH_MAX);
        const { sqlRowsMax, sqlSeconds } = this.parts.limits;
        const timeoutMs = sqlSeconds * MILLISECONDS_PER_SECOND;
        const limits = {
            rowsMax: sqlRowsMax,
            timeoutMs,
            asker
        };
        const json = await this.recorded.store.query(sql, limits, goneSignal(reply));
        void reply.header('content-type', 'application/json; charset=utf-8').send(json);
    }
    async sets(request) {
        await this.gate.look(request);
        return {
            sets: await this.recorded.store.shelf.savedSets()
        };
    }
    /** Takes the place of one of the same name and author. */ async saveSet(request, body) {
        await this.gate.ask(request);
        const fields = fieldsOf(body, [
            'name',
            'recallIds'
        ]);
        const name = textOf(fields, 'name', SET_NAME_LENGTH_MAX);
        const recallIds = textsOf(fields, 'recallIds', SET_RECALLS_MAX);
        const action = {
            action: 'save-set',
            role: 'read',
            name
        };
        return this.gate.act(request, action, async (visitor)=>{
            await this.checkAuthorOf(name, visitor);
            const set = {
                name,
                recallIds,
                author: visitor.name,
                timeMs: this.parts.nowMs()
            };
            await this.recorded.store.shelf.saveSet(set);
            return set;
        });
    }
    removeSet(request, name) {
        const action = {
            action: 'remove-set',
            role: 'read',
            name
        };
        return this.gate.act(request, action, async (visitor)=>{
            await this.checkAuthorOf(name, visitor);
            return {
                removed: await this.recorded.store.shelf.removeSet(name)
            };
        });
    }
    /** A set that there is may be replaced and removed by its author alone, or by an admin. */ async checkAuthorOf(name, visitor) {
        const sets = await this.recorded.store.shelf.savedSets();
        const found = sets.find((set)=>set.name === name);
        if (found !== undefined) checkAuthor(visitor, found.author, 'set');
    }
}
_ts_decorate([
    Post('sql'),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Body()),
    _ts_param(2, Res()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        Object,
        typeof FastifyReply === "undefined" ? Object : FastifyReply
    ]),
    _ts_metadata("design:returntype", Promise)
], SqlController.prototype, "query", null);
_ts_decorate([
    Get('sets'),
    _ts_param(0, Req()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest
    ]),
    _ts_metadata("design:returntype", Promise)
], SqlController.prototype, "sets", null);
_ts_decorate([
    Post('sets'),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Body()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], SqlController.prototype, "saveSet", null);
_ts_decorate([
    Delete('sets/:name'),
    _ts_param(0, Req()),
    _ts_param(1, Param('name')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String
    ]),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], SqlController.prototype, "removeSet", null);
SqlController = _ts_decorate([
    Controller('console/api'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate,
        typeof Recorded === "undefined" ? Object : Recorded
    ])
], SqlController);

//# sourceMappingURL=sql.controller.js.map