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
import { Controller, Delete, Get, Param, Query, Req } from "@nestjs/common";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { CatalogueNames } from "../catalogue-names.js";
import { ClusterNodes } from "../cluster-nodes.js";
import { ConsoleParts } from "../console-parts.js";
import { sampledOf } from "../domain/sampled.js";
import { fieldsOf, integerOf, optionalText, SEED_BOUNDS, textOf } from "../fields.js";
import { Gate } from "../gate.js";
import { Recorded } from "../recorded.js";
const BEHAVIOURS_SHOWN = 500;
const USERS_MAX = 1000;
/** Users that a sample is drawn from. */ const SAMPLED_OF = 100_000;
const TEXT_LENGTH_MAX = 200;
const FOUND_MAX = 20;
/** Items that are looked at for a text; a larger catalogue is searched as far as that. */ const SEARCHED_MAX = 100_000;
/** A chain of the KV pool without what only the pool needs. */ const chainView = (chain)=>({
        version: chain.version,
        isRetired: chain.isRetired,
        tokens: chain.tokens,
        deviceTokens: chain.deviceTokens,
        hostTokens: chain.hostTokens,
        diskTokens: chain.diskTokens,
        durableTokens: chain.durableTokens,
        versionsBack: chain.versionsBack
    });
export class UsersController {
    parts;
    gate;
    recorded;
    nodes;
    names;
    constructor(parts, gate, recorded, nodes, names){
        this.parts = parts;
        this.gate = gate;
        this.recorded = recorded;
        this.nodes = nodes;
        this.names = names;
    }
    /** Users that can be recalled for: by their beginning, or by chance where there is a seed. */ async list(request, query) {
        await this.gate.look(request);
        const fields = fieldsOf(query, [
            'limit',
            'prefix',
            'seed'
        ]);
        const limit = integerOf(fields, 'limit', {
            min: 1,
            max: USERS_MAX,
            fallback: 50
        });
        const prefix = optionalText(fields, 'prefix', TEXT_LENGTH_MAX) ?? '';
        const { facts } = this.parts.runtime;
        if (fields.seed === undefined) return {
            userIds: await facts.sampleUserIds(limit, prefix)
        };
        const seed = integerOf(fields, 'seed', SEED_BOUNDS);
        const known = await facts.sampleUserIds(SAMPLED_OF, prefix);
        return {
            userIds: sampledOf(known, limit, seed)
        };
    }
    async page(request, userId) {
        await this.gate.look(request);
        const { node, fault } = await this.nodes.keeperOf(request, userId);
        if (node === undefined) return this.own(userId, fault);
        try {
            const path = `users/${encodeURIComponent(userId)}`;
            const page = await this.nodes.ask(node, {
                method: 'GET',
                path
            });
            return Object.assign(page, {
                fault
            });
        } catch (thrown) {
            const { code, message } = TesseraError.from(thrown);
            if (code === 'USER_NOT_FOUND') throw thrown;
            return this.own(userId, message);
        }
    }
    /** @param fault why the owner's keys and values are not shown; '': they are */ async own(userId, fault) {
        const { runtime } = this.parts;
        const user = await runtime.facts.user(userId, BEHAVIOURS_SHOWN);
        if (user === null) {
            throw new TesseraError('USER_NOT_FOUND', `userId: user '${userId}' is not known`, {
                field: 'userId'
            });
        }
        const described = this.recorded.describe(user.behaviours.map(({ itemId })=>itemId));
        return {
            userId,
            profile: user.profile,
            behaviours: user.behaviours.map(({ itemId, action, time })=>{
                const { title = '', sid = [] } = described[itemId] ?? {};
                return {
                    itemId,
                    action,
                    time,
                    title,
                    sid
                };
            }),
            chains: runtime.facts.kvPool.inspect(userId).map(chainView),
            node: this.nodes.own,
            fault
        };
    }
    /** Forgets a user: behaviours, profile, keys and values, recorded recalls. */ erase(request, userId) {
        const action = {
            action: 'erase-user',
            role: 'operate',
            name: userId
        };
        return this.gate.act(request, action, async ()=>{
            const { eraseUser } = this.parts;
            if (eraseUser === undefined) {
                const message = 'behaviours.store: expected one that can erase users, got another';
                throw new TesseraError('REQUEST_INVALID', message, {
                    field: 'behaviours.store'
                });
            }
            const erased = await eraseUser(userId);
            const { gateway, forget } = this.parts.cluster;
            // The other nodes have keys and values of the user as well.
            if (gateway !== '') await forget(userId);
            return erased;
        });
    }
    /** Items by their ID, or by a part of their title. */ async items(request, query) {
        await this.gate.look(request);
        const text = textOf(fieldsOf(query, [
            'text'
        ]), 'text', TEXT_LENGTH_MAX);
        const [byId] = this.parts.runtime.facts.describe([
            text
        ]);
        const { found, isWhole } = await this.titled(text.toLowerCase());
        const others = found.filter((item)=>item.itemId !== byId?.itemId);
        return {
            items: [
                ...byId === undefined ? [] : [
                    byId
                ],
                ...others
            ],
            isWhole
        };
    }
    async place(request, id) {
        await this.gate.look(request);
        const place = await this.names.place(id);
        if (place !== null) return place;
        const message = `item: expected the ID of one in the catalogue, got '${id.slice(0, 80)}'`;
        throw new TesseraError('ITEM_NOT_FOUND', message, {
            field: 'item'
        });
    }
    async titled(text) {
        const { pages } = await this.parts.runtime.operations.changesOf('').listItems();
        const found = [];
        let searched = 0;
        for (const page of pages){
            const hits = page.filter((item)=>item.title.toLowerCase().includes(text));
            for (const { itemId, title, attributes, sid } of hits.slice(0, FOUND_MAX - found.length)){
                found.push({
                    itemId,
                    title,
                    attributes,
                    sid
                });
            }
            searched += page.length;
            if (found.length >= FOUND_MAX || searched >= SEARCHED_MAX) return {
                found,
                isWhole: false
            };
            // A turn of the event loop between pages: recalls go on meanwhile.
            await new Promise((resolve)=>setImmediate(resolve));
        }
        return {
            found,
            isWhole: true
        };
    }
}
_ts_decorate([
    Get('users'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], UsersController.prototype, "list", null);
_ts_decorate([
    Get('users/:id'),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String
    ]),
    _ts_metadata("design:returntype", Promise)
], UsersController.prototype, "page", null);
_ts_decorate([
    Delete('users/:id'),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String
    ]),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], UsersController.prototype, "erase", null);
_ts_decorate([
    Get('items'),
    _ts_param(0, Req()),
    _ts_param(1, Query()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], UsersController.prototype, "items", null);
_ts_decorate([
    Get('items/:id/place'),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String
    ]),
    _ts_metadata("design:returntype", Promise)
], UsersController.prototype, "place", null);
UsersController = _ts_decorate([
    Controller('console/api'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate,
        typeof Recorded === "undefined" ? Object : Recorded,
        typeof ClusterNodes === "undefined" ? Object : ClusterNodes,
        typeof CatalogueNames === "undefined" ? Object : CatalogueNames
    ])
], UsersController);

//# sourceMappingURL=users.controller.js.map