import type { TLSSocket } from 'node:tls';
import {
  type AccessRule,
  type Credentials,
  type EdgeGuard,
  type OwnSite,
  type Principal,
  type Role,
} from '@tessera/access';
import { errorBody, TesseraError } from '@tessera/errors';
import { routeRule } from '@tessera/methods';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);
const SHOWN_CHARACTERS_MAX = 80;

/**
 * Rejects with UNAUTHENTICATED where who sent this is not logged in to the console, and with
 * PERMISSION_DENIED for another role than the wanted one or more. `action`: what audits call it.
 */
type VisitorCheck = (
  request: FastifyRequest,
  wanted: Role,
  action: string | undefined,
) => Promise<unknown>;

export interface HttpAccess {
  readonly guard: EdgeGuard;
  readonly site: OwnSite;
  /** Left out: no console is served. */
  readonly checkVisitor?: VisitorCheck | undefined;
}

const callers = new WeakMap<FastifyRequest, Principal>();

/** The caller, as the hook found them. */
export function callerOf(request: FastifyRequest): Principal {
  const caller = callers.get(request);
  if (caller !== undefined) return caller;
  throw new TesseraError('INTERNAL', 'request reached its handler without an access check');
}

function credentialsOf({ headers, raw }: FastifyRequest): Credentials {
  return {
    authorization: headers.authorization,
    get certificate() {
      const socket = raw.socket as Partial<TLSSocket>;
      if (socket.authorized !== true) return undefined;
      return socket.getPeerCertificate?.()?.subject?.CN?.toString();
    },
  };
}

function checkHost(site: OwnSite, host: string | undefined): void {
  if (site.hasName(host)) return;
  const got = (host ?? 'none').slice(0, SHOWN_CHARACTERS_MAX);
  const expected = 'expected a name of this machine, or one that http.publicNames lists';
  const message = `host: ${expected}; got '${got}'`;
  throw new TesseraError('PERMISSION_DENIED', message, { field: 'host' });
}

function checkOrigin(site: OwnSite, { method, headers }: FastifyRequest): void {
  if (READING.has(method) || !site.isForeign(headers)) return;
  const message = 'origin: expected a page of this origin, or none, got another one';
  throw new TesseraError('PERMISSION_DENIED', message, { field: 'origin' });
}

/**
 * Lets requests in as the access table says, before their bodies are read: for one of our own
 * names, changes from our own pages or from no browser, and by whoever may. A route without an
 * entry keeps the service from starting.
 */
export function guardRoutes(instance: FastifyInstance, access: HttpAccess): void {
  const { guard, site, checkVisitor } = access;
  instance.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) {
      if (routeRule(one, url) === undefined) {
        throw new Error(`expected a row of the methods or routes for ${one} ${url}, got none`);
      }
    }
  });
  // Refusals are answered here: routes of plugins know nothing of Nest's filters.
  instance.addHook('onRequest', (request, reply, done) => {
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
      checkVisitor(request, role, rule?.action).then(
        () => done(),
        (thrown) => refuse(reply, TesseraError.from(thrown)),
      );
    }
  });
}

function refuse(reply: FastifyReply, error: TesseraError): void {
  void reply.status(error.row.http).send(errorBody(error));
}

function roleOf({ need }: AccessRule): Role | undefined {
  return need !== 'open' && 'role' in need ? need.role : undefined;
}
