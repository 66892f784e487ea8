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
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from "@nestjs/common";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../../libs/ops/units/src/index.js";
import { ComparisonRun } from "../comparison-run.js";
import { ConsoleParts } from "../console-parts.js";
import { sampledOf } from "../domain/sampled.js";
import { fieldsOf, integerOf, invalid, SEED_BOUNDS, textsOf } from "../fields.js";
import { checkAuthor, Gate } from "../gate.js";
import { goneSignal } from "../gone-signal.js";
import { Notes } from "../notes.js";
import { Recorded } from "../recorded.js";
import { trialSettings, versionedContext } from "../trial-settings.js";
const TITLE_LENGTH_MAX = 200;
const DIGEST = /\b([0-9a-f]{10})[0-9a-f]{54}\b/g;
/** Users that a sample is drawn from. */ const SAMPLED_OF = 100_000;
const NO_USER = 'the first user';
function settingsOf(fields, side) {
    const value = fields[side] ?? {};
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw invalid(side, 'an object of settings', value);
    }
    const settings = value;
    for (const own of [
        'userId',
        'history'
    ]){
        if (own in settings) throw invalid(`${side}.${own}`, 'nothing: users are given beside', 'a value');
    }
    return settings;
}
/** In words, where nobody has given it a title; digests by their beginning, as everywhere. */ function titleOf({ left, right }) {
    const words = (settings)=>Object.entries(settings).map(([name, value])=>`${name} ${JSON.stringify(value).replace(DIGEST, '$1')}`).join(', ') || 'as configured';
    return `${words(left)} against ${words(right)}`.slice(0, TITLE_LENGTH_MAX);
}
export class ComparisonController {
    parts;
    gate;
    recorded;
    notes;
    constructor(parts, gate, recorded, notes){
        this.parts = parts;
        this.gate = gate;
        this.recorded = recorded;
        this.notes = notes;
    }
    /**
   * Asks both settings for each user; tells progress, users and their sum line by line. One that
   * comes to its end is saved.
   */ async compare(request, body, reply) {
        const { name: author } = await this.gate.ask(request);
        const fields = fieldsOf(body, [
            'left',
            'right',
            'users',
            'sample',
            'seed'
        ]);
        const sides = {
            left: settingsOf(fields, 'left'),
            right: settingsOf(fields, 'right')
        };
        const users = await this.usersOf(fields);
        const signal = goneSignal(reply);
        const run = new ComparisonRun(this.parts.runtime, await this.side(sides.left, signal), await this.side(sides.right, signal));
        const lines = this.saved(run.lines(users), sides, author);
        const text = Readable.from(lines).map((line)=>`${JSON.stringify(line)}\n`);
        void reply.header('content-type', 'application/x-ndjson').send(text);
    }
    /** Newest first. */ async list(request) {
        await this.gate.look(request);
        return {
            comparisons: await this.recorded.store.shelf.comparisons()
        };
    }
    async page(request, id) {
        await this.gate.look(request);
        const { detail, ...summary } = await this.kept(id);
        const { sides, lines } = JSON.parse(detail);
        return {
            ...summary,
            sides,
            lines,
            notes: await this.recorded.store.shelf.notes(id)
        };
    }
    remove(request, id) {
        const action = {
            action: 'remove-comparison',
            role: 'read',
            name: id
        };
        return this.gate.act(request, action, async (visitor)=>{
            const { shelf } = this.recorded.store;
            const found = await shelf.comparison(id);
            if (found !== undefined) checkAuthor(visitor, found.author, 'comparison');
            return {
                removed: await shelf.removeComparison(id)
            };
        });
    }
    note(request, id, body) {
        return this.notes.add(request, id, body, (kept)=>this.kept(kept));
    }
    removeNote(request, id, note) {
        return this.notes.remove(request, id, note);
    }
    async kept(id) {
        const comparison = await this.recorded.store.shelf.comparison(id);
        if (comparison !== undefined) return comparison;
        const message = `comparison: expected the ID of one that is kept, got '${id.slice(0, 80)}'`;
        throw new TesseraError('ROUTE_NOT_FOUND', message, {
            field: 'comparison'
        });
    }
    async usersOf(fields) {
        const { compareUsersMax } = this.parts.limits;
        if (fields.users !== undefined) {
            const users = textsOf(fields, 'users', compareUsersMax);
            if (users.length === 0) throw invalid('users', 'at least one user', 'none');
            return users;
        }
        const sample = integerOf(fields, 'sample', {
            min: 1,
            max: compareUsersMax
        });
        const seed = integerOf(fields, 'seed', SEED_BOUNDS);
        const known = await this.parts.runtime.facts.sampleUserIds(SAMPLED_OF);
        const users = sampledOf(known, sample, seed);
        if (users.length === 0) throw invalid('sample', 'users that are known', 'none');
        return users;
    }
    /** A setting that is wrong, or a version that is gone, is refused before the first user. */ async side(settings, signal) {
        const { body, sequence } = trialSettings(settings);
        // Behind those who want answers: this can wait.
        const requestFor = (userId)=>this.parts.parseRecall({
                priority: 'low',
                ...body,
                userId
            }).request;
        const budgetUs = this.parts.limits.defaultDeadlineMs * MICROSECONDS_PER_MILLISECOND;
        const context = {
            signal,
            budgetUs
        };
        const { serving } = this.parts.runtime;
        const asked = requestFor(NO_USER);
        return {
            requestFor,
            context: await versionedContext(serving, asked, sequence, context)
        };
    }
    async *saved(lines, sides, author) {
        const { erasures } = this.parts.runtime.serving;
        const { mark } = erasures;
        const seen = [];
        for await (const line of lines){
            if (line.kind !== 'summary') {
                if (line.kind !== 'progress') seen.push(line);
                yield line;
                continue;
            }
            const userIds = seen.flatMap((one)=>'userId' in one ? [
                    one.userId
                ] : []);
            // One that failed for all found nothing; one with a user who was erased meanwhile may not
            // be kept. Both are shown.
            const isKept = line.users > 0 && userIds.every((userId)=>erasures.mayKeep(userId, mark));
            const store = isKept ? this.parts.store : undefined;
            const id = store === undefined ? '' : randomUUID();
            const summary = {
                ...line,
                id
            };
            await store?.shelf.saveComparison({
                id,
                timeMs: this.parts.nowMs(),
                author,
                title: titleOf(sides),
                userCount: line.users,
                overlap: line.overlap,
                userIds,
                detail: JSON.stringify({
                    sides,
                    lines: [
                        ...seen,
                        summary
                    ]
                })
            });
            yield summary;
        }
    }
}
_ts_decorate([
    Post(),
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
], ComparisonController.prototype, "compare", null);
_ts_decorate([
    Get(),
    _ts_param(0, Req()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest
    ]),
    _ts_metadata("design:returntype", Promise)
], ComparisonController.prototype, "list", null);
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
], ComparisonController.prototype, "page", null);
_ts_decorate([
    Delete(':id'),
    _ts_param(0, Req()),
    _ts_param(1, Param('id')),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        String
    ]),
    _ts_metadata("design:returntype", typeof Promise === "undefined" ? Object : Promise)
], ComparisonController.prototype, "remove", null);
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
], ComparisonController.prototype, "note", null);
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
], ComparisonController.prototype, "removeNote", null);
ComparisonController = _ts_decorate([
    Controller('console/api/comparisons'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate,
        typeof Recorded === "undefined" ? Object : Recorded,
        typeof Notes === "undefined" ? Object : Notes
    ])
], ComparisonController);

//# sourceMappingURL=comparison.controller.js.map