import { AttemptLimit, roleOf, Seal, Sessions } from "../../../libs/edge/access/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../../libs/ops/units/src/index.js";
import { parseCookie, stringifySetCookie } from "cookie";
import { ConsoleAccess } from "./console-access.js";
const SESSION_COOKIE = 'tessera-console';
/** Of a login that was begun with a provider. */ const BEGUN_COOKIE = 'tessera-console-login';
const BEGUN_MS = 600_000;
/** Behind what a proxy puts before all paths. */ const API_PATH = '/console/api';
const LOGIN_PATH = `${API_PATH}/login`;
/** Where a provider sends the browser back to. */ const RETURN_PATH = `${LOGIN_PATH}/oidc/return`;
/** People log in with a token or with a provider, and have a session from then on. */ export class LoginAccess extends ConsoleAccess {
    parts;
    sessions;
    attempts;
    seal;
    constructor(parts){
        super(), this.parts = parts;
        const { sessions, attempts, nowMs } = parts;
        this.sessions = new Sessions(sessions, nowMs);
        this.attempts = new AttemptLimit(attempts, nowMs);
        this.seal = new Seal(BEGUN_MS, nowMs);
    }
    /** How one may log in. */ get ways() {
        return {
            token: this.parts.tokens !== undefined,
            oidc: this.parts.oidc !== undefined
        };
    }
    /** A caller with a token needs no session. */ async visitor({ cookie, authorization }) {
        if (authorization !== '') return this.visitorOf({
            token: tokenOf(authorization)
        });
        const id = cookieOf(cookie, SESSION_COOKIE);
        const holder = id === undefined ? undefined : this.sessions.find(id);
        if (holder === undefined) return undefined;
        if (!('tokenSha256' in holder)) return {
            name: holder.name,
            role: holder.role
        };
        return this.visitorOf({
            sha256: holder.tokenSha256
        });
    }
    visitorOf(by) {
        try {
            const { name, scopes } = this.tokens().holder(by);
            const role = roleOf(scopes);
            return role && {
                name,
                role
            };
        } catch (thrown) {
            if (TesseraError.from(thrown).code === 'UNAUTHENTICATED') return undefined;
            throw thrown;
        }
    }
    /** Rejects with UNAUTHENTICATED, PERMISSION_DENIED, TOO_MANY_ATTEMPTS, CONFIG_INVALID. */ logIn(token, request, address) {
        return this.attempts.attempt(address, async ()=>{
            const { name, scopes, sha256 } = this.tokens().holder({
                token
            });
            const role = roleOf(scopes);
            if (role === undefined) {
                const message = `role: expected a token with the scope read, operate or admin, '${name}' has ` + scopes.join(', ');
                throw new TesseraError('PERMISSION_DENIED', message, {
                    field: 'role'
                });
            }
            return this.entered({
                tokenSha256: sha256
            }, {
                name,
                role
            }, request);
        });
    }
    /** Where to send the browser. Rejects with ISSUER_UNAVAILABLE, REQUEST_INVALID. */ async beginOidc({ host }, returnTo) {
        const { origin } = new URL(this.parts.publicUrl || `http://${host}`);
        const redirectUri = origin + this.prefix + RETURN_PATH;
        const { url, begun: login } = await this.oidc().begin(redirectUri);
        // Not strict: the browser comes back from the provider's page.
        const sealed = this.seal.close({
            login,
            returnTo
        });
        return {
            url,
            cookies: [
                this.begunCookie(sealed, BEGUN_MS)
            ]
        };
    }
    /**
   * Rejects with UNAUTHENTICATED, PERMISSION_DENIED, TOO_MANY_ATTEMPTS, ISSUER_UNAVAILABLE.
   * @param query what the provider has sent the browser back with
   */ endOidc(query, request, address) {
        return this.attempts.attempt(address, async ()=>{
            const begun = this.seal.open(cookieOf(request.cookie, BEGUN_COOKIE) ?? '');
            if (begun === undefined) {
                const message = 'login: expected one that was begun here and lately, got another';
                throw new TesseraError('UNAUTHENTICATED', message, {
                    field: 'login'
                });
            }
            const holder = await this.oidc().end(query, begun.login);
            const { name, role, subject } = holder;
            // Set at another path than those it is for, it needs one of its own.
            const path = this.prefix + API_PATH;
            const { visitor, cookies } = this.entered(holder, {
                name,
                role
            }, request, path);
            const ended = this.begunCookie('', 0);
            return {
                visitor,
                subject,
                returnTo: begun.returnTo,
                cookies: [
                    ...cookies,
                    ended
                ]
            };
        });
    }
    logOut({ cookie }) {
        this.sessions.end(cookieOf(cookie, SESSION_COOKIE) ?? '');
        return [
            this.cookie(SESSION_COOKIE, '', 0, {
                sameSite: 'strict'
            })
        ];
    }
    /** A new session, whatever the browser had before. */ entered(holder, visitor, request, path) {
        this.logOut(request);
        const id = this.sessions.begin(holder);
        const { lifetimeMs } = this.parts.sessions;
        const cookie = this.cookie(SESSION_COOKIE, id, lifetimeMs, {
            sameSite: 'strict',
            path
        });
        return {
            visitor,
            cookies: [
                cookie
            ]
        };
    }
    /** A path that a proxy takes off, by the address that people use. */ get prefix() {
        const { publicUrl } = this.parts;
        return publicUrl === '' ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
    }
    begunCookie(value, lifetimeMs) {
        const path = this.prefix + LOGIN_PATH;
        return this.cookie(BEGUN_COOKIE, value, lifetimeMs, {
            sameSite: 'lax',
            path
        });
    }
    /**
   * A cookie without a path is for that of the API, as the browser sees it behind any proxy
   * (RFC 6265, section 5.1.4): `.../console/api/login` sets it.
   */ cookie(name, value, lifetimeMs, { sameSite, path }) {
        const options = {
            httpOnly: true,
            secure: this.parts.publicUrl.startsWith('https:'),
            sameSite,
            ...path !== undefined && {
                path
            },
            maxAge: Math.floor(lifetimeMs / MILLISECONDS_PER_SECOND)
        };
        return stringifySetCookie(name, value, options);
    }
    tokens() {
        return this.parts.tokens ?? absent('token', 'access.tokensPath');
    }
    oidc() {
        return this.parts.oidc ?? absent('provider', 'oidc.issuer');
    }
}
function absent(what, key) {
    const message = `login: expected a way that is configured, got a ${what}; see ${key}`;
    throw new TesseraError('REQUEST_INVALID', message, {
        field: 'login'
    });
}
/** '' where it bears none. */ function tokenOf(authorization) {
    return /^Bearer (.+)$/i.exec(authorization)?.[1] ?? '';
}
function cookieOf(header, name) {
    return parseCookie(header)[name];
}

//# sourceMappingURL=login-access.js.map