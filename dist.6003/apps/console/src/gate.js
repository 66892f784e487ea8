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
import { isForeign, reaches } from "../../../libs/edge/access/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { Audits } from "./audits.js";
import { ConsoleParts } from "./console-parts.js";
/** Header that only a page of the same origin can set without being asked first. */ const CONSOLE_HEADER = 'x-tessera-console';
export function visitorRequest({ headers }) {
    const { host = '', cookie = '', authorization = '' } = headers;
    return {
        host,
        cookie,
        authorization
    };
}
/** Somebody who is logged in, in whatever role. Rejects with UNAUTHENTICATED. */ async function visitorOf(access, request, wanted) {
    const visitor = await access.visitor(visitorRequest(request));
    if (visitor !== undefined) return visitor;
    const message = `role: expected somebody who is logged in with the role ${wanted} or more, got nobody; ` + 'log in at /console/';
    throw new TesseraError('UNAUTHENTICATED', message, {
        field: 'role'
    });
}
/**
 * For what serves HTTP, which asks before it reads a body: whoever sends it is logged in and has
 * the role. A change that is refused is audited.
 */ export function checkVisitor(parts) {
    const audits = new Audits(parts);
    return async (request, wanted, action)=>{
        const visitor = await visitorOf(parts.access, request, wanted);
        try {
            checkRole(visitor, wanted);
        } catch (thrown) {
            const { code, message } = TesseraError.from(thrown);
            const { id, name = id ?? '' } = request.params;
            const refused = {
                action: action,
                name,
                detail: message
            };
            if (action !== undefined) await audits.note(visitor, refused, code);
            throw thrown;
        }
    };
}
export class Gate {
    parts;
    audits;
    constructor(parts, audits){
        this.parts = parts;
        this.audits = audits;
    }
    /** For what shows something. Rejects with UNAUTHENTICATED or PERMISSION_DENIED. */ async look(request) {
        const visitor = await this.visitor(request, 'read');
        checkSite(request, this.parts.publicHost);
        return visitor;
    }
    /** For what works for somebody and changes nothing: from a page of this origin alone. */ async ask(request) {
        const visitor = await this.visitor(request, 'read');
        this.checkOrigin(request);
        return visitor;
    }
    /**
   * For what changes something: from a page of this origin alone. A refused visitor is audited
   * here, a permitted one by the action. Rejects as `look` does.
   */ async allow(request, { role, ...action }) {
        const visitor = await this.visitor(request, role);
        try {
            checkRole(visitor, role);
            this.checkOrigin(request);
            return visitor;
        } catch (thrown) {
            const { code, message } = TesseraError.from(thrown);
            await this.audits.note(visitor, {
                ...action,
                detail: message
            }, code);
            throw thrown;
        }
    }
    /** The same, and does it between two lines of the audit log. */ async act(request, guarded, act) {
        const visitor = await this.allow(request, guarded);
        const { role: _, ...action } = guarded;
        return this.audits.audited(visitor, action, ()=>act(visitor));
    }
    /** @throws TesseraError PERMISSION_DENIED for a request of another page than one of ours */ checkOrigin(request) {
        checkSite(request, this.parts.publicHost);
        if (request.headers[CONSOLE_HEADER] === '1') return;
        // No browser adds a token to a request by itself.
        if (request.headers.authorization !== undefined) return;
        throw foreign();
    }
    visitor(request, wanted) {
        return visitorOf(this.parts.access, request, wanted);
    }
}
Gate = _ts_decorate([
    Injectable(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Audits === "undefined" ? Object : Audits
    ])
], Gate);
function checkRole({ role }, wanted) {
    if (reaches(role, wanted)) return;
    const message = `role: expected ${wanted} or more, got ${role}`;
    throw new TesseraError('PERMISSION_DENIED', message, {
        field: 'role'
    });
}
/**
 * For the work of somebody, which is theirs to remove, or an admin's.
 * @throws TesseraError PERMISSION_DENIED for another visitor
 */ export function checkAuthor({ name, role }, author, what) {
    if (name === author || reaches(role, 'admin')) return;
    const message = `${what}: expected its author ${author} or the role admin, got ${name} (${role})`;
    throw new TesseraError('PERMISSION_DENIED', message, {
        field: what
    });
}
/** @param publicHost that people ask for where a proxy asks for another; '': none */ function checkSite({ headers }, publicHost) {
    if (isForeign(headers, publicHost)) throw foreign();
}
function foreign() {
    const message = `${CONSOLE_HEADER}: expected 1 from a page of this origin, got another request`;
    return new TesseraError('PERMISSION_DENIED', message, {
        field: CONSOLE_HEADER
    });
}

//# sourceMappingURL=gate.js.map