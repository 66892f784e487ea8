import "../../access/src/index.js";
import { errorBody, TesseraError } from "../../../ops/errors/src/index.js";
import { routeRule } from "../../methods/src/index.js";
const READING = new Set([
    'GET',
    'HEAD',
    'OPTIONS'
]);
const SHOWN_CHARACTERS_MAX = 80;
const callers = new WeakMap();
/** The caller, as the hook found them. */ export function callerOf(request) {
    const caller = callers.get(request);
    if (caller !== undefined) return caller;
    throw new TesseraError('INTERNAL', 'request reached its handler without an access check');
}
function credentialsOf({ headers, raw }) {
    return {
        authorization: headers.authorization,
        get certificate () {
            const socket = raw.socket;
            if (socket.authorized !== true) return undefined;
            return socket.getPeerCertificate?.()?.subject?.CN?.toString();
        }
    };
}
function checkHost(site, host) {
    if (site.hasName(host)) return;
    const got = (host ?? 'none').slice(0, SHOWN_CHARACTERS_MAX);
    const expected = 'expected a name of this machine, or one that http.publicNames lists';
    const message = `host: ${expected}; got '${got}'`;
    throw new TesseraError('PERMISSION_DENIED', message, {
        field: 'host'
    });
}
function checkOrigin(site, { method, headers }) {
    if (READING.has(method) || !site.isForeign(headers)) return;
    const message = 'origin: expected a page of this origin, or none, got another one';
    throw new TesseraError('PERMISSION_DENIED', message, {
        field: 'origin'
    });
}
/**
 * Lets requests in as the access table says, before their bodies are read: for one of our own
 * names, changes from our own pages or from no browser, and by whoever may. A route without an
 * entry keeps the service from starting.
 */ export function guardRoutes(instance, access) {
    const { guard, site, checkVisitor } = access;
    instance.addHook('onRoute', ({ method, url })=>{
        for (const one of [
            method
        ].flat()){
            if (routeRule(one, url) === undefined) {
                throw new Error(`expected a row of the methods or routes for ${one} ${url}, got none`);
            }
        }
    });
    // Refusals are answered here: routes of plugins know nothing of Nest's filters.
    instance.addHook('onRequest', (request, reply, done)=>{
        const { url } = request.routeOptions;
        const rule = url === undefined ? undefined : routeRule(request.method, url);
        try {
            checkHost(site, request.headers.host);
            checkOrigin(site, request);
        } catch (thrown) {
            refuse(reply, guard.refused(rule?.action, '', TesseraError.from(thrown)));
            return;
        }
        // There is no such route: nothing but that is answered.
        if (request.is404) {
            done();
            return;
        }
        try {
            callers.set(request, guard.enter(rule, credentialsOf(request)));
        } catch (thrown) {
            refuse(reply, TesseraError.from(thrown));
            return;
        }
        const role = rule && roleOf(rule);
        if (checkVisitor === undefined || role === undefined) done();
        else {
            checkVisitor(request, role, rule?.action).then(()=>done(), (thrown)=>refuse(reply, TesseraError.from(thrown)));
        }
    });
}
function refuse(reply, error) {
    void reply.status(error.row.http).send(errorBody(error));
}
function roleOf({ need }) {
    return need !== 'open' && 'role' in need ? need.role : undefined;
}

//# sourceMappingURL=http-access.js.map