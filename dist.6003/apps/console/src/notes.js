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
import { randomUUID } from "node:crypto";
import { Injectable } from "@nestjs/common";
import { ConsoleParts } from "./console-parts.js";
import { fieldsOf, textOf } from "./fields.js";
import { checkAuthor, Gate } from "./gate.js";
import { Recorded } from "./recorded.js";
const NOTE_LENGTH_MAX = 4000;
export class Notes {
    parts;
    gate;
    recorded;
    constructor(parts, gate, recorded){
        this.parts = parts;
        this.gate = gate;
        this.recorded = recorded;
    }
    /** @param look rejects where there is nothing of the ID */ add(request, id, body, look) {
        const action = {
            action: 'add-note',
            role: 'read',
            name: id
        };
        return this.gate.act(request, action, async ({ name: author })=>{
            const text = textOf(fieldsOf(body, [
                'text'
            ]), 'text', NOTE_LENGTH_MAX);
            const { store } = this.recorded;
            await look(id);
            const note = {
                id: randomUUID(),
                recallId: id,
                timeMs: this.parts.nowMs(),
                author,
                text
            };
            await store.shelf.addNote(note);
            return note;
        });
    }
    remove(request, id, note) {
        const detail = `note ${note}`;
        const action = {
            action: 'remove-note',
            role: 'read',
            name: id,
            detail
        };
        return this.gate.act(request, action, async (visitor)=>{
            const { shelf } = this.recorded.store;
            const found = (await shelf.notes(id)).find((one)=>one.id === note);
            if (found === undefined) return {
                removed: false
            };
            checkAuthor(visitor, found.author, 'note');
            return {
                removed: await shelf.removeNote(note)
            };
        });
    }
}
Notes = _ts_decorate([
    Injectable(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate,
        typeof Recorded === "undefined" ? Object : Recorded
    ])
], Notes);

//# sourceMappingURL=notes.js.map