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
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { ConsoleParts } from "./console-parts.js";
const NAME_LENGTH_MAX = 128;
const DETAIL_LENGTH_MAX = 1000;
export class Audits {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    /** Does it between two lines of the audit log: what cannot be audited is not done. */ async audited(visitor, action, act) {
        await this.write(visitor, action, 'begun');
        try {
            const result = await act();
            await this.end(visitor, action, 'OK');
            return result;
        } catch (thrown) {
            const { code, message } = TesseraError.from(thrown);
            await this.end(visitor, {
                ...action,
                detail: message
            }, code);
            throw thrown;
        }
    }
    /** One line for what is done at once, or refused. Rejects with STORE_FULL or IO_FAILED. */ async note(visitor, action, outcome) {
        this.parts.countAction(action.action, outcome);
        await this.write(visitor, action, outcome);
    }
    /** The action has happened: where its end cannot be written, that is logged, and no more. */ async end(visitor, action, outcome) {
        await this.note(visitor, action, outcome).catch((error)=>{
            const { log } = this.parts;
            log.error({
                err: error,
                ...action,
                outcome
            }, 'the end of an action could not be audited');
        });
    }
    write(visitor, { action, name, digest = '', detail = '' }, outcome) {
        return this.parts.audits.write({
            timeMs: this.parts.nowMs(),
            action,
            actor: visitor?.name ?? '',
            digest,
            outcome,
            name: name.slice(0, NAME_LENGTH_MAX),
            detail: detail.slice(0, DETAIL_LENGTH_MAX),
            role: visitor?.role ?? ''
        });
    }
}
Audits = _ts_decorate([
    Injectable(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts
    ])
], Audits);

//# sourceMappingURL=audits.js.map