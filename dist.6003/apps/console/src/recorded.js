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
import { itemsAsOf } from "../../../libs/insight/analysis/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { ConsoleParts } from "./console-parts.js";
function changedSince(then, now) {
    return Object.values(then).filter(({ itemId, title, attributes })=>{
        const today = now[itemId];
        return today?.title !== title || today.attributes !== attributes;
    }).map(({ itemId })=>itemId);
}
export class Recorded {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    /** @throws TesseraError STORE_UNAVAILABLE where nothing is recorded */ get store() {
        const { store } = this.parts;
        if (store !== undefined) return store;
        const message = 'inspection: expected a store of recorded recalls, got none; set inspection.path, ' + 'and see the log of the start';
        throw new TesseraError('STORE_UNAVAILABLE', message, {
            field: 'inspection.path'
        });
    }
    /** @throws TesseraError ROUTE_NOT_FOUND where there is none of the ID */ async recall(id) {
        await this.store.settled();
        const recall = await this.store.recall(id);
        if (recall !== undefined) return recall;
        const message = `recall: expected the ID of one that is kept, got '${id.slice(0, 80)}'`;
        throw new TesseraError('ROUTE_NOT_FOUND', message, {
            field: 'recall'
        });
    }
    /** @param node the name of this one; '': there is no cluster */ async page(id, node) {
        const recall = await this.recall(id);
        const { answer, request } = recall;
        const ids = [
            ...answer?.items.map(({ itemId })=>itemId) ?? [],
            ...answer?.history.map(({ itemId })=>itemId) ?? []
        ];
        const now = this.describe(ids, request.catalogue);
        const then = answer && await this.asOf(ids, request.catalogue ?? '', answer.versions);
        return {
            node,
            isHere: true,
            recall,
            // Facts may not reach back to all of them.
            described: Object.assign({}, now, then),
            describedAt: then === undefined ? null : answer?.versions.catalogueSequence ?? null,
            changedSince: then === undefined ? [] : changedSince(then, now),
            notes: await this.store.shelf.notes(id),
            goneVersions: answer === undefined ? [] : this.goneOf(answer.versions)
        };
    }
    describe(itemIds, catalogue) {
        const unique = [
            ...new Set(itemIds)
        ];
        const found = this.parts.runtime.facts.describe(unique, catalogue);
        return Object.fromEntries(found.flatMap((item)=>item === undefined ? [] : [
                [
                    item.itemId,
                    item
                ]
            ]));
    }
    /** Items as the recall saw them; undefined where no facts say it. */ async asOf(itemIds, catalogue, { catalogueSequence: sequence }) {
        const { analysis, log } = this.parts;
        if (analysis === undefined) return undefined;
        try {
            await analysis.refresh();
            const unique = [
                ...new Set(itemIds)
            ];
            const found = await itemsAsOf(analysis.asking, {
                itemIds: unique,
                catalogue,
                sequence
            });
            if (found.length === 0) return undefined;
            return Object.fromEntries(found.map(({ itemId, title, attributes, sid })=>[
                    itemId,
                    {
                        itemId,
                        title,
                        attributes,
                        sid: sid.split('-').filter(Boolean).map(Number)
                    }
                ]));
        } catch (thrown) {
            log.warn({
                err: thrown
            }, 'items of a recorded recall are shown as they are today');
            return undefined;
        }
    }
    goneOf(versions) {
        const { model, catalogue } = this.parts.runtime.facts.summary;
        return [
            ...versions.model === model.digest ? [] : [
                'model'
            ],
            ...versions.catalogue === catalogue.digest ? [] : [
                'catalogue'
            ]
        ];
    }
}
Recorded = _ts_decorate([
    Injectable(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts
    ])
], Recorded);

//# sourceMappingURL=recorded.js.map