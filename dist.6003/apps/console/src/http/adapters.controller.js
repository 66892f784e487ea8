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
import { adapterChange, adapterView, isAdapterChange } from "../adapter-views.js";
import { ConsoleParts } from "../console-parts.js";
import { fieldsOf, flagOf, integerOf, shareOf } from "../fields.js";
import { Gate } from "../gate.js";
const CHANGES_MAX = 500;
const NOTHING = {
    usedBytes: 0,
    maxBytes: 0
};
export class ConsoleAdaptersController {
    parts;
    gate;
    constructor(parts, gate){
        this.parts = parts;
        this.gate = gate;
    }
    async page(request) {
        await this.gate.look(request);
        const { adapters } = this.parts.runtime.operations;
        if (adapters === undefined) {
            return {
                isKept: false,
                defaultName: '',
                versions: [],
                arena: NOTHING,
                disk: NOTHING
            };
        }
        const versions = adapters.list('').map((version)=>adapterView(adapters, version));
        const { arena, disk } = adapters.memory();
        const { usedBytes, maxBytes } = arena;
        const { defaultName } = adapters;
        return {
            isKept: true,
            defaultName,
            versions,
            arena: {
                usedBytes,
                maxBytes
            },
            disk
        };
    }
    /** Actions on them, with actor and outcome; newest first. */ async changes(request, query) {
        await this.gate.look(request);
        const fields = fieldsOf(query, [
            'limit'
        ]);
        const limit = integerOf(fields, 'limit', {
            min: 1,
            max: CHANGES_MAX,
            fallback: 50
        });
        const { entries, isWhole } = await this.parts.audits.newest(limit, isAdapterChange);
        return {
            changes: entries.map(adapterChange),
            isWhole
        };
    }
    /** For a share of the users, as a canary, or for all of them. */ async activate(request, name, digest, body) {
        const visitor = await this.admin(request, {
            action: 'activate',
            name,
            digest
        });
        const fields = fieldsOf(body, [
            'share',
            'force',
            'cold'
        ]);
        const { warmedUsers, goldenOverlap } = await this.parts.adapterActions.activateAs(visitor, {
            name,
            digest
        }, {
            share: shareOf(fields, 'share'),
            isCompared: !flagOf(fields, 'force'),
            isWarmed: !flagOf(fields, 'cold')
        });
        return {
            warmedUsers,
            ...goldenOverlap !== undefined && {
                goldenOverlap
            }
        };
    }
    /** Ends the canary of a name, or brings back what was active before. */ async rollBack(request, name) {
        const visitor = await this.admin(request, {
            action: 'rollback',
            name
        });
        const { serves, replaced } = await this.parts.adapterActions.rollBackAs(visitor, name);
        return {
            serves: serves?.digest ?? '',
            replaced: replaced?.digest ?? ''
        };
    }
    /** Keeps it loaded, so that requests may name its digest. */ pin(request, name, digest) {
        return this.pinned(request, {
            name,
            digest
        }, true);
    }
    unpin(request, name, digest) {
        return this.pinned(request, {
            name,
            digest
        }, false);
    }
    async delete(request, name, digest) {
        const visitor = await this.admin(request, {
            action: 'delete',
            name,
            digest
        });
        await this.parts.adapterActions.deleteAs(visitor, {
            name,
            digest
        });
        return {
            removed: true
        };
    }
    async pinned(request, version, isPinned) {
        const visitor = await this.admin(request, {
            action: isPinned ? 'pin' : 'unpin',
            ...version
        });
        await this.parts.adapterActions.pinAs(visitor, version, isPinned);
        return {
            isPinned
        };
    }
    admin(request, action) {
        return this.gate.allow(request, {
            ...action,
            role: 'admin'
        });
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
], ConsoleAdaptersController.prototype, "page", null);
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
], ConsoleAdaptersController.prototype, "changes", null);
_ts_decorate([
    Post(':name/:digest/activate'),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Param('name')),
    _ts_param(2, Param('digest')),
    _ts_param(3, Body()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String,
        String,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleAdaptersController.prototype, "activate", null);
_ts_decorate([
    Post(':name/roll-back'),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Param('name')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleAdaptersController.prototype, "rollBack", null);
_ts_decorate([
    Post(':name/:digest/pin'),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Param('name')),
    _ts_param(2, Param('digest')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String,
        String
    ]),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], ConsoleAdaptersController.prototype, "pin", null);
_ts_decorate([
    Delete(':name/:digest/pin'),
    _ts_param(0, Req()),
    _ts_param(1, Param('name')),
    _ts_param(2, Param('digest')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String,
        String
    ]),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], ConsoleAdaptersController.prototype, "unpin", null);
_ts_decorate([
    Delete(':name/:digest'),
    _ts_param(0, Req()),
    _ts_param(1, Param('name')),
    _ts_param(2, Param('digest')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String,
        String
    ]),
    _ts_metadata("design:returntype", Promise)
], ConsoleAdaptersController.prototype, "delete", null);
ConsoleAdaptersController = _ts_decorate([
    Controller('console/api/adapters'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate
    ])
], ConsoleAdaptersController);

//# sourceMappingURL=adapters.controller.js.map