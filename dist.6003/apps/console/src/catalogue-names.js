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
import { ConsoleParts } from "./console-parts.js";
import { Nearest } from "./domain/nearest.js";
import { NodeNames } from "./domain/node-names.js";
/** Items that are counted; of a larger catalogue the first. */ const ITEMS_MAX = 100_000;
const NEIGHBOURS = 12;
/** Between two counts of a catalogue that changes all the time. */ const AGE_MS = 30_000;
/** Items between two turns of the event loop: recalls go on meanwhile. */ const TURN = 500;
export class CatalogueNames {
    parts;
    counted;
    constructor(parts){
        this.parts = parts;
    }
    /** @param by an attribute; '': the one that tells most */ async of(by) {
        const now = this.parts.nowMs();
        if (this.counted === undefined || now - this.counted.atMs > AGE_MS) {
            const names = this.count();
            this.counted = {
                atMs: now,
                names
            };
            names.catch(()=>{
                this.counted = undefined;
            });
        }
        const { names, isWhole } = await this.counted.names;
        return Object.assign(names.names(by), {
            isWhole
        });
    }
    /** Where an item stands in the tree, and the items beside it. Null: there is no such item. */ async place(itemId) {
        const [item] = this.parts.runtime.facts.describe([
            itemId
        ]);
        if (item === undefined) return null;
        const nearest = new Nearest(item, NEIGHBOURS);
        const isWhole = await this.each((one)=>nearest.add(one));
        return Object.assign({}, item, {
            neighbours: nearest.found(),
            isWhole
        });
    }
    async count() {
        const names = new NodeNames();
        const isWhole = await this.each(({ sid, attributes })=>{
            names.add({
                sid,
                attributes: JSON.parse(attributes)
            });
        });
        return {
            names,
            isWhole
        };
    }
    /** False: there are more items than are looked at. */ async each(look) {
        const { pages } = await this.parts.runtime.operations.changesOf('').listItems();
        let counted = 0;
        for (const page of pages){
            for (const item of page){
                if (counted === ITEMS_MAX) return false;
                look(item);
                counted += 1;
                if (counted % TURN === 0) await new Promise((resolve)=>setImmediate(resolve));
            }
        }
        return true;
    }
}
CatalogueNames = _ts_decorate([
    Injectable(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts
    ])
], CatalogueNames);

//# sourceMappingURL=catalogue-names.js.map