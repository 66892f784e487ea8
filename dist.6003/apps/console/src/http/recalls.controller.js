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
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from "@nestjs/common";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { askedAgain } from "../../../../libs/insight/inspection/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../../libs/ops/units/src/index.js";
import { ClusterNodes } from "../cluster-nodes.js";
import { ConsoleParts } from "../console-parts.js";
import { firstOf } from "../domain/first-of.js";
import { anyFieldsOf, fieldsOf, optionalText, textOf } from "../fields.js";
import { Gate } from "../gate.js";
import { goneSignal } from "../gone-signal.js";
import { Notes } from "../notes.js";
import { RecallLists } from "../recall-lists.js";
import { searchOf } from "../recall-search.js";
import { Recorded } from "../recorded.js";
import { replayOf } from "../replay.js";
import { trialSettings, versionedContext } from "../trial-settings.js";
const ID_LENGTH_MAX = 1024;
const NODE_LENGTH_MAX = 253;
/** Milliseconds beyond a replay's own deadline that its answer may take. */ const NODE_ANSWER_MS = 1000;
/** The node that a query names; undefined: none. */ function nodeOf(query) {
    return optionalText(fieldsOf(query, [
        'node'
    ]), 'node', NODE_LENGTH_MAX);
}
function addressed(path, query) {
    const words = Object.entries(query).map(([name, value])=>[
            name,
            String(value)
        ]);
    return `${path}?${new URLSearchParams(words)}`;
}
export class RecallsController {
    parts;
    gate;
    recorded;
    notes;
    nodes;
    lists;
    constructor(parts, gate, recorded, notes, nodes, lists){
        this.parts = parts;
        this.gate = gate;
        this.recorded = recorded;
        this.notes = notes;
        this.nodes = nodes;
        this.lists = lists;
    }
    /** Of this node and, where it is one of a cluster, of the others. */ async list(request, query, reply) {
        await this.gate.look(request);
        const search = searchOf(query);
        const signal = goneSignal(reply);
        const isOfAll = search.set === undefined && !this.nodes.isAlone(request);
        if (!isOfAll) return {
            recalls: await this.lists.list(search, this.nodes.own, signal),
            unreached: []
        };
        // Each of the first of all is among the first of its node.
        const first = Object.assign({}, search, {
            offset: 0,
            limit: search.offset + search.limit
        });
        const unreached = [];
        const own = this.lists.list(first, this.nodes.own, signal).catch((thrown)=>{
            unreached.push({
                node: this.nodes.own,
                reason: TesseraError.from(thrown).message
            });
            return [];
        });
        const path = addressed('recalls', Object.assign({}, query, {
            offset: 0,
            limit: first.limit
        }));
        const others = await this.nodes.others(path);
        const lists = [
            await own,
            ...others.answers.map(({ recalls })=>recalls)
        ];
        const recalls = firstOf(lists, search);
        return {
            recalls,
            unreached: [
                ...unreached,
                ...others.unreached
            ]
        };
    }
    /**
   * The body is that of a recall over HTTP, and may name a version of the catalogue; the answer is
   * recorded.
   */ async try(request, body, reply) {
        await this.gate.ask(request);
        const { store } = this.recorded;
        const { body: asked, sequence } = trialSettings(anyFieldsOf(body));
        const { request: wanted } = this.parts.parseRecall(asked);
        const { serving } = this.parts.runtime;
        const context = await versionedContext(serving, wanted, sequence, this.context(reply));
        const { recordId } = await this.parts.recalls.try(wanted, context);
        if (recordId !== '') {
            await store.settled();
            return {
                id: recordId
            };
        }
        throw new TesseraError('STORE_FULL', 'inspection: too many recalls wait to be recorded');
    }
    async page(request, id, query) {
        await this.gate.look(request);
        const node = await this.nodes.named(request, nodeOf(query));
        if (node === undefined) return this.recorded.page(id, this.nodes.own);
        const path = `recalls/${encodeURIComponent(id)}`;
        const page = await this.nodes.ask(node, {
            method: 'GET',
            path
        });
        return Object.assign(page, {
            isHere: false
        });
    }
    /** The fate of an item in the recall, replayed as it was asked, at the node that recorded it. */ async explain(request, id, query, body, reply) {
        await this.gate.ask(request);
        const itemId = textOf(fieldsOf(body, [
            'itemId'
        ]), 'itemId', ID_LENGTH_MAX);
        const node = await this.nodes.named(request, nodeOf(query));
        if (node === undefined) return this.explainHere(id, itemId, reply);
        const path = `recalls/${encodeURIComponent(id)}/explain`;
        const timeoutMs = this.parts.limits.defaultDeadlineMs + NODE_ANSWER_MS;
        return this.nodes.ask(node, {
            method: 'POST',
            path,
            body: {
                itemId
            },
            timeoutMs
        });
    }
    note(request, id, body) {
        return this.notes.add(request, id, body, (kept)=>this.recorded.recall(kept));
    }
    removeNote(request, id, note) {
        return this.notes.remove(request, id, note);
    }
    async explainHere(id, itemId, reply) {
        const { request: recorded, answer, requestId } = await this.recorded.recall(id);
        if (answer === undefined) {
            throw new TesseraError('REQUEST_INVALID', 'recall: expected one with an answer, got none', {
                field: 'recall'
            });
        }
        const { versions, history } = answer;
        const { serving } = this.parts.runtime;
        const context = this.context(reply);
        const asked = {
            recall: {
                ...askedAgain(recorded),
                requestId
            },
            itemId,
            versions
        };
        try {
            return await serving.explain(asked, context);
        } catch (thrown) {
            // The service no longer remembers the prompt: the history that was recorded is replayed.
            if (TesseraError.from(thrown).field !== 'requestId' || history.length === 0) throw thrown;
            const replayed = {
                ...replayOf(recorded, answer),
                requestId
            };
            return serving.explain({
                ...asked,
                recall: replayed
            }, context);
        }
    }
    context(reply) {
        const budgetUs = this.parts.limits.defaultDeadlineMs * MICROSECONDS_PER_MILLISECOND;
        return {
            signal: goneSignal(reply),
            budgetUs
        };
    }
}
_ts_decorate([
    Get(),
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
], RecallsController.prototype, "list", null);
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
], RecallsController.prototype, "try", null);
_ts_decorate([
    Get(':id'),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_param(2, Query()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String,
        Object
    ]),
    _ts_metadata("design:returntype", Promise)
], RecallsController.prototype, "page", null);
_ts_decorate([
    Post(':id/explain'),
    HttpCode(200),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_param(2, Query()),
    _ts_param(3, Body()),
    _ts_param(4, Res({
        passthrough: true
    })),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String,
        Object,
        Object,
        typeof FastifyReply === "undefined" ? Object : FastifyReply
    ]),
    _ts_metadata("design:returntype", Promise)
], RecallsController.prototype, "explain", null);
_ts_decorate([
    Post(':id/notes'),
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
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], RecallsController.prototype, "note", null);
_ts_decorate([
    Delete(':id/notes/:note'),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_param(2, Param('note')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String,
        String
    ]),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], RecallsController.prototype, "removeNote", null);
RecallsController = _ts_decorate([
    Controller('console/api/recalls'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate,
        typeof Recorded === "undefined" ? Object : Recorded,
        typeof Notes === "undefined" ? Object : Notes,
        typeof ClusterNodes === "undefined" ? Object : ClusterNodes,
        typeof RecallLists === "undefined" ? Object : RecallLists
    ])
], RecallsController);

//# sourceMappingURL=recalls.controller.js.map