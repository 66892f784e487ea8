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
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from "@nestjs/common";
import { CatalogueNames } from "../catalogue-names.js";
import { ConsoleParts } from "../console-parts.js";
import { fieldsOf, integerOf, optionalText, textOf } from "../fields.js";
import { Gate } from "../gate.js";
import { Imports } from "../imports.js";
import { Recorded } from "../recorded.js";
const CHANGES_MAX = 1000;
const TEXT_LENGTH_MAX = 65_535;
const NEIGHBOURS = 12;
const NAME_LENGTH_MAX = 200;
/** Characters of a part of an import. */ const PART_LENGTH_MAX = 512 * 1024;
export class ConsoleCatalogueController {
    parts;
    gate;
    recorded;
    imports;
    names;
    constructor(parts, gate, recorded, imports, names){
        this.parts = parts;
        this.gate = gate;
        this.recorded = recorded;
        this.imports = imports;
        this.names = names;
    }
    async page(request) {
        await this.gate.look(request);
        const changes = this.parts.runtime.operations.changesOf('');
        const { sequence, liveItemCount, changedItemCount } = changes.state();
        const { bundleUuid } = changes;
        const generations = await changes.generations();
        return {
            sequence,
            liveItemCount,
            changedItemCount,
            bundleUuid,
            generations
        };
    }
    /** Changes of the catalogues, newest first. */ async changes(request, query) {
        await this.gate.look(request);
        const fields = fieldsOf(query, [
            'limit'
        ]);
        const limit = integerOf(fields, 'limit', {
            min: 1,
            max: CHANGES_MAX,
            fallback: 100
        });
        const { store } = this.recorded;
        await store.settled();
        return {
            changes: await store.changes(limit)
        };
    }
    /** Names of the nodes of the tree, after what the items below have in common. */ async nodeNames(request, query) {
        await this.gate.look(request);
        return this.names.of(optionalText(fieldsOf(query, [
            'by'
        ]), 'by', NAME_LENGTH_MAX) ?? '');
    }
    /** Changes nothing. */ async landing(request, body) {
        await this.gate.ask(request);
        const text = textOf(fieldsOf(body, [
            'text'
        ]), 'text', TEXT_LENGTH_MAX);
        return this.parts.runtime.operations.changesOf('').landing({
            text
        }, NEIGHBOURS);
    }
    /** Makes the items those of an earlier version, as one more change. */ async rollBack(request, body) {
        await this.gate.ask(request);
        const fields = fieldsOf(body, [
            'sequence'
        ]);
        const sequence = integerOf(fields, 'sequence', {
            min: 0,
            max: Number.MAX_SAFE_INTEGER
        });
        const name = String(sequence);
        const action = {
            action: 'roll-back-catalogue',
            role: 'admin',
            name
        };
        return this.gate.act(request, action, async (visitor)=>({
                sequence: await this.parts.runtime.operations.changesOf('').rollBack(sequence, sourceOf(visitor))
            }));
    }
    /** A file of changes is to come, part by part. */ async beginImport(request) {
        await this.gate.allow(request, importing(''));
        return {
            id: this.imports.begin()
        };
    }
    /** A part of it, in whole lines. */ async addLines(request, id, body) {
        await this.gate.allow(request, importing(id));
        return this.imports.add(id, textOf(fieldsOf(body, [
            'text'
        ]), 'text', PART_LENGTH_MAX));
    }
    /** All of it or none. */ applyImport(request, id) {
        return this.gate.act(request, importing(id), (visitor)=>this.imports.apply(id, sourceOf(visitor)));
    }
    async cancelImport(request, id) {
        await this.gate.allow(request, importing(id));
        return {
            removed: this.imports.drop(id)
        };
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
], ConsoleCatalogueController.prototype, "page", null);
_ts_decorate([
    Get('changes'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleCatalogueController.prototype, "changes", null);
_ts_decorate([
    Get('names'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleCatalogueController.prototype, "nodeNames", null);
_ts_decorate([
    Post('landing'),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Body()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleCatalogueController.prototype, "landing", null);
_ts_decorate([
    Post('roll-back'),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Body()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleCatalogueController.prototype, "rollBack", null);
_ts_decorate([
    Post('imports'),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleCatalogueController.prototype, "beginImport", null);
_ts_decorate([
    Post('imports/:id/lines'),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_param(2, Body()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleCatalogueController.prototype, "addLines", null);
_ts_decorate([
    Post('imports/:id/apply'),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String
    ]),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], ConsoleCatalogueController.prototype, "applyImport", null);
_ts_decorate([
    Delete('imports/:id'),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleCatalogueController.prototype, "cancelImport", null);
ConsoleCatalogueController = _ts_decorate([
    Controller('console/api/catalogue'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate,
        typeof Recorded === "undefined" ? Object : Recorded,
        typeof Imports === "undefined" ? Object : Imports,
        typeof CatalogueNames === "undefined" ? Object : CatalogueNames
    ])
], ConsoleCatalogueController);
/** How the change log names who acted in the console. */ const sourceOf = ({ name })=>`console: ${name}`;
/** An import is prepared with the permission to apply it. */ const importing = (name)=>({
        action: 'import-changes',
        role: 'admin',
        name
    });

//# sourceMappingURL=catalogue.controller.js.map