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
import { Body, Controller, Delete, Get, HttpCode, Post, Req, Res } from "@nestjs/common";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { Audits } from "../audits.js";
import { ConsoleParts } from "../console-parts.js";
import { fieldsOf, invalid, optionalText, textOf } from "../fields.js";
import { Gate, visitorRequest } from "../gate.js";
const TOKEN_LENGTH_MAX = 1024;
const PAGE_LENGTH_MAX = 1024;
const FOUND = 302;
/** From `api/login/oidc/return`, whatever a proxy puts before it. */ const PAGES = '../../../';
export class LoginController {
    parts;
    gate;
    audits;
    constructor(parts, gate, audits){
        this.parts = parts;
        this.gate = gate;
        this.audits = audits;
    }
    /** The person who asks, and the ways to log in; open to everybody. */ async state(request) {
        const { access, logins } = this.parts;
        const visitor = await access.visitor(visitorRequest(request));
        return {
            visitor: visitor ?? null,
            ways: logins?.ways ?? null
        };
    }
    async logIn(request, body, reply) {
        this.gate.checkOrigin(request);
        const token = textOf(fieldsOf(body, [
            'token'
        ]), 'token', TOKEN_LENGTH_MAX);
        const logins = this.logins();
        const { visitor, cookies } = await this.audited(request, ()=>logins.logIn(token, visitorRequest(request), request.ip));
        await this.noteLogin(visitor, `with a token, from ${request.ip}`);
        reply.header('set-cookie', cookies);
        return {
            visitor,
            ways: logins.ways
        };
    }
    async logOut(request, reply) {
        this.gate.checkOrigin(request);
        const logins = this.logins();
        // A visitor who has no session any more may leave as well.
        const visitor = await logins.visitor(visitorRequest(request)).catch(()=>undefined);
        reply.header('set-cookie', logins.logOut(visitorRequest(request)));
        if (visitor !== undefined) {
            await this.audits.note(visitor, {
                action: 'logout',
                name: visitor.name
            }, 'OK');
        }
        return {
            visitor: null,
            ways: logins.ways
        };
    }
    /** Where to log in with the provider. */ async beginOidc(request, body, reply) {
        this.gate.checkOrigin(request);
        const page = optionalText(fieldsOf(body, [
            'returnTo'
        ]), 'returnTo', PAGE_LENGTH_MAX) ?? '/';
        if (!page.startsWith('/')) throw invalid('returnTo', 'a page that begins with /', page);
        const { url, cookies } = await this.logins().beginOidc(visitorRequest(request), page);
        reply.header('set-cookie', cookies);
        return {
            url
        };
    }
    /** The provider sends browsers back here; a page follows, logged in or with the reason. */ async endOidc(request, reply) {
        const query = new URL(request.url, 'http://here').search;
        try {
            const { visitor, subject, cookies, returnTo } = await this.audited(request, ()=>this.logins().endOidc(query, visitorRequest(request), request.ip));
            await this.noteLogin(visitor, `with a provider, as ${subject}, from ${request.ip}`);
            void reply.header('set-cookie', cookies).redirect(`${PAGES}#${returnTo}`, FOUND);
        } catch (thrown) {
            const { code } = TesseraError.from(thrown);
            this.parts.log.warn({
                err: thrown
            }, 'a login with the provider failed');
            void reply.redirect(`${PAGES}#/?refused=${code}`, FOUND);
        }
    }
    async noteLogin(visitor, how) {
        await this.audits.note(visitor, {
            action: 'login',
            name: visitor.name,
            detail: how
        }, 'OK');
    }
    /** Attempts that fail are few for each address, so each is a line; those beyond are counted. */ async audited(request, act) {
        try {
            return await act();
        } catch (thrown) {
            const { code, message } = TesseraError.from(thrown);
            if (code === 'TOO_MANY_ATTEMPTS') this.parts.countAction('login', code);
            else {
                const detail = `${message}; from ${request.ip}`;
                await this.audits.note(undefined, {
                    action: 'login',
                    name: '',
                    detail
                }, code);
            }
            throw thrown;
        }
    }
    logins() {
        const { logins } = this.parts;
        if (logins !== undefined) return logins;
        const message = 'login: expected a console that asks who comes, got one on this machine alone';
        throw new TesseraError('REQUEST_INVALID', message, {
            field: 'login'
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
], LoginController.prototype, "state", null);
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
], LoginController.prototype, "logIn", null);
_ts_decorate([
    Delete(),
    _ts_param(0, Req()),
    _ts_param(1, Res({
        passthrough: true
    })),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        typeof FastifyReply === "undefined" ? Object : FastifyReply
    ]),
    _ts_metadata("design:returntype", Promise)
], LoginController.prototype, "logOut", null);
_ts_decorate([
    Post('oidc'),
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
], LoginController.prototype, "beginOidc", null);
_ts_decorate([
    Get('oidc/return'),
    _ts_param(0, Req()),
    _ts_param(1, Res()),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof FastifyRequest === "undefined" ? Object : FastifyRequest,
        typeof FastifyReply === "undefined" ? Object : FastifyReply
    ]),
    _ts_metadata("design:returntype", Promise)
], LoginController.prototype, "endOidc", null);
LoginController = _ts_decorate([
    Controller('console/api/login'),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Gate === "undefined" ? Object : Gate,
        typeof Audits === "undefined" ? Object : Audits
    ])
], LoginController);

//# sourceMappingURL=login.controller.js.map