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
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req } from "@nestjs/common";
import { SQL_LENGTH_MAX } from "../../../../libs/insight/inspection/src/index.js";
import { ConsoleParts } from "../console-parts.js";
import { fieldsOf, textOf } from "../fields.js";
import { checkAuthor, Gate } from "../gate.js";
const NAME_LENGTH_MAX = 200;
export class QuestionsController {
    parts;
    gate;
    constructor(parts, gate){
        this.parts = parts;
        this.gate = gate;
    }
    /** Of everybody, by name. */ async list(request) {
        await this.gate.look(request);
        return {
            questions: await this.parts.questions.list()
        };
    }
    /** Takes the place of one of the same name and author. */ async save(request, body) {
        await this.gate.ask(request);
        const fields = fieldsOf(body, [
            'name',
            'sql'
        ]);
        const name = textOf(fields, 'name', NAME_LENGTH_MAX);
        const sql = textOf(fields, 'sql', SQL_LENGTH_MAX);
        const action = {
            action: 'save-question',
            role: 'read',
            name
        };
        return this.gate.act(request, action, async (visitor)=>{
            const question = {
                name,
                sql,
                author: visitor.name,
                timeMs: this.parts.nowMs()
            };
            await this.parts.questions.save(question, ({ author })=>checkAuthor(visitor, author, 'question'));
            return question;
        });
    }
    remove(request, name) {
        const action = {
            action: 'remove-question',
            role: 'read',
            name
        };
        return this.gate.act(request, action, async (visitor)=>({
                removed: await this.parts.questions.remove(name, ({ author })=>checkAuthor(visitor, author, 'question'))
            }));
    }
}
_ts_decorate([
    Get(),
    _ts_param(0, Req()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest
    ]),
    _ts_metadata("design:returntype", Promise)
], QuestionsController.prototype, "list", null);
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
], QuestionsController.prototype, "save", null);
_ts_decorate([
    Delete(':name'),
    _ts_param(0, Req()),
    _ts_param(1, Param('name')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String
    ]),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], QuestionsController.prototype, "remove", null);
QuestionsController = _ts_decorate([
    Controller('console/api/questions'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate
    ])
], QuestionsController);

//# sourceMappingURL=questions.controller.js.map