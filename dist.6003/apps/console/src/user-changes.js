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
import { Injectable } from "@nestjs/common";
import { jaccardDistance, shapleyValues } from "../../../libs/insight/analysis/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../libs/ops/units/src/index.js";
import { ConsoleParts } from "./console-parts.js";
import { invalid } from "./fields.js";
import { Recorded } from "./recorded.js";
import { BASE, replayOf } from "./replay.js";
import { versionedContext } from "./trial-settings.js";
const PARTS = [
    'history',
    'catalogue',
    'adapter'
];
const idsOf = ({ items })=>items.map(({ itemId })=>itemId);
/** A part of a recall as text, by which two recalls are compared. */ const WORTH_OF = {
    history: ({ history, profile })=>JSON.stringify([
            history.map(({ itemId, action })=>[
                    itemId,
                    action
                ]),
            profile
        ]),
    catalogue: ({ versions })=>String(versions.catalogueSequence),
    adapter: ({ versions })=>versions.adapter
};
export class UserChanges {
    parts;
    recorded;
    constructor(parts, recorded){
        this.parts = parts;
        this.recorded = recorded;
    }
    async between(leftId, rightId, signal) {
        const left = await this.side(leftId, 'left');
        const right = await this.side(rightId, 'right');
        if (left.recall.request.userId !== right.recall.request.userId) {
            throw invalid('right', 'a recall of the user of the other', rightId);
        }
        const reasons = new Map();
        const players = [];
        for (const part of PARTS){
            if (WORTH_OF[part](left.answer) === WORTH_OF[part](right.answer)) continue;
            const reason = await this.whyNot(part, left, right, signal);
            if (reason === '') players.push(part);
            else reasons.set(part, reason);
        }
        const corners = await this.cornersOf(players, reasons, left, right, signal);
        return pageOf(left, right, {
            players,
            reasons,
            corners
        });
    }
    async side(id, field) {
        const recall = await this.recorded.recall(id);
        const { answer } = recall;
        if (answer !== undefined) return {
            recall,
            answer
        };
        throw invalid(field, 'a recall with an answer', id);
    }
    /** '' where both sides can be asked; the other parts are those of the later recall. */ async whyNot(part, left, right, signal) {
        const later = {
            history: right,
            catalogue: right,
            adapter: right
        };
        try {
            for (const side of [
                left,
                right
            ]){
                if (part === 'history') {
                    if (side.answer.history.length > 0) continue;
                    return 'the recall has no recorded history';
                }
                if (part === 'catalogue') await this.context(later, side, signal);
                else await this.ask(Object.assign({}, later, {
                    adapter: side
                }), signal, NOT_PINNED);
            }
            return '';
        } catch (thrown) {
            return TesseraError.from(thrown).message;
        }
    }
    async cornersOf(players, reasons, left, right, signal) {
        const corners = new Map();
        const isPinned = !reasons.has('catalogue');
        for(let mask = 0; mask < 2 ** players.length; mask++){
            const later = players.filter((_, bit)=>(mask >> bit) % 2 === 1);
            // A part that cannot be asked is that of the later recall, which is more likely served.
            const sideOf = (part)=>later.includes(part) || reasons.has(part) ? right : left;
            const choice = {
                history: sideOf('history'),
                catalogue: sideOf('catalogue'),
                adapter: sideOf('adapter')
            };
            const itemIds = await this.ask(choice, signal, isPinned);
            corners.set(later.join(), {
                later,
                itemIds
            });
        }
        return corners;
    }
    async ask(choice, signal, isPinned) {
        const request = requestOf(choice);
        const context = isPinned ? await this.context(choice, choice.catalogue, signal) : this.plain(signal);
        return idsOf(await this.parts.runtime.serving.recall(request, context));
    }
    context(choice, catalogue, signal) {
        const { catalogueSequence } = catalogue.answer.versions;
        const { serving } = this.parts.runtime;
        return versionedContext(serving, requestOf(choice), catalogueSequence, this.plain(signal));
    }
    plain(signal) {
        const budgetUs = this.parts.limits.defaultDeadlineMs * MICROSECONDS_PER_MILLISECOND;
        return {
            signal,
            budgetUs,
            isOwn: true
        };
    }
}
UserChanges = _ts_decorate([
    Injectable(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Recorded === "undefined" ? Object : Recorded
    ])
], UserChanges);
const NOT_PINNED = false;
/** As the recall of the history was asked, with a written history and the adapter's digest. */ function requestOf({ history, adapter }) {
    const replay = replayOf(history.recall.request, history.answer);
    return {
        ...replay,
        adapter: adapter.answer.versions.adapter || BASE
    };
}
function pageOf(left, right, found) {
    const { players, reasons, corners } = found;
    const [before, after] = [
        idsOf(left.answer),
        idsOf(right.answer)
    ];
    const first = corners.get('')?.itemIds ?? [];
    const worth = (coalition)=>jaccardDistance(first, corners.get(coalition.join())?.itemIds ?? []);
    const shares = shapleyValues(players, worth);
    const distance = jaccardDistance(before, after);
    return {
        distance,
        shares: PARTS.map((part)=>({
                part,
                share: shares.get(part) ?? 0,
                isAsked: players.includes(part),
                reason: reasons.get(part) ?? ''
            })),
        rest: distance - worth(players),
        gained: after.filter((id)=>!before.includes(id)),
        lost: before.filter((id)=>!after.includes(id)),
        corners: [
            ...corners.values()
        ]
    };
}

//# sourceMappingURL=user-changes.js.map