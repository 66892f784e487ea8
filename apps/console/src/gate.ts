import { Injectable } from '@nestjs/common';
import { isForeign, type Role, reaches } from '@tessera/access';
import { TesseraError } from '@tessera/errors';
import type { FastifyRequest } from 'fastify';
import { type Action, Audits } from './audits.js';
import type { ConsoleAccess, Visitor, VisitorRequest } from './console-access.js';
import { ConsoleParts } from './console-parts.js';

/** Header that only a page of the same origin can set without being asked first. */
const CONSOLE_HEADER = 'x-tessera-console';

export function visitorRequest({ headers }: FastifyRequest): VisitorRequest {
  const { host = '', cookie = '', authorization = '' } = headers;
  return { host, cookie, authorization };
}

/** Somebody who is logged in, in whatever role. Rejects with UNAUTHENTICATED. */
async function visitorOf(
  access: ConsoleAccess,
  request: FastifyRequest,
  wanted: Role,
): Promise<Visitor> {
  const visitor = await access.visitor(visitorRequest(request));
  if (visitor !== undefined) return visitor;
  const message =
    `role: expected somebody who is logged in with the role ${wanted} or more, got nobody; ` +
    'log in at /console/';
  throw new TesseraError('UNAUTHENTICATED', message, { field: 'role' });
}

/**
 * For what serves HTTP, which asks before it reads a body: whoever sends it is logged in and has
 * the role. A change that is refused is audited.
 */
export function checkVisitor(parts: ConsoleParts) {
  const audits = new Audits(parts);
  return async (request: FastifyRequest, wanted: Role, action: string | undefined) => {
    const visitor = await visitorOf(parts.access, request, wanted);
    try {
      checkRole(visitor, wanted);
    } catch (thrown) {
      const { code, message } = TesseraError.from(thrown);
      const { id, name = id ?? '' } = request.params as Readonly<Record<string, string>>;
      const refused = { action: action as Action['action'], name, detail: message };
      if (action !== undefined) await audits.note(visitor, refused, code);
      throw thrown;
    }
  };
}

/** An action, and who may do it. */
export interface GuardedAction extends Action {
  readonly role: Role;
}

/** The checks that every request of the console passes first. */
@Injectable()
export class Gate {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly audits: Audits,
  ) {}

  /** For what shows something. Rejects with UNAUTHENTICATED or PERMISSION_DENIED. */
  async look(request: FastifyRequest): Promise<Visitor> {
    const visitor = await this.visitor(request, 'read');
    checkSite(request, this.parts.publicHost);
    return visitor;
  }

  /** For what works for somebody and changes nothing: from a page of this origin alone. */
  async ask(request: FastifyRequest): Promise<Visitor> {
    const visitor = await this.visitor(request, 'read');
    this.checkOrigin(request);
    return visitor;
  }

  /**
   * For what changes something: from a page of this origin alone. A refused visitor is audited
   * here, a permitted one by the action. Rejects as `look` does.
   */
  async allow(request: FastifyRequest, { role, ...action }: GuardedAction): Promise<Visitor> {
    const visitor = await this.visitor(request, role);
    try {
      checkRole(visitor, role);
      this.checkOrigin(request);
      return visitor;
    } catch (thrown) {
      const { code, message } = TesseraError.from(thrown);
      await this.audits.note(visitor, { ...action, detail: message }, code);
      throw thrown;
    }
  }

  /** Checks the role, and acts between two lines of the audit log. */
  async act<Result>(
    request: FastifyRequest,
    guarded: GuardedAction,
    act: (visitor: Visitor) => Promise<Result>,
  ): Promise<Result> {
    const visitor = await this.allow(request, guarded);
    const { role: _, ...action } = guarded;
    return this.audits.audited(visitor, action, () => act(visitor));
  }

  /** @throws TesseraError PERMISSION_DENIED for a request of another page than one of ours */
  checkOrigin(request: FastifyRequest): void {
    checkSite(request, this.parts.publicHost);
    if (request.headers[CONSOLE_HEADER] === '1') return;
    // No browser adds a token to a request by itself.
    if (request.headers.authorization !== undefined) return;
    throw foreign();
  }

  private visitor(request: FastifyRequest, wanted: Role): Promise<Visitor> {
    return visitorOf(this.parts.access, request, wanted);
  }
}

function checkRole({ role }: Visitor, wanted: Role): void {
  if (reaches(role, wanted)) return;
  const message = `role: expected ${wanted} or more, got ${role}`;
  throw new TesseraError('PERMISSION_DENIED', message, { field: 'role' });
}

/**
 * For the work of somebody, which is theirs to remove, or an admin's.
 * @throws TesseraError PERMISSION_DENIED for another visitor
 */
export function checkAuthor({ name, role }: Visitor, author: string, what: string): void {
  if (name === author || reaches(role, 'admin')) return;
  const message = `${what}: expected its author ${author} or the role admin, got ${name} (${role})`;
  throw new TesseraError('PERMISSION_DENIED', message, { field: what });
}

/** @param publicHost that people ask for where a proxy asks for another; '': none */
function checkSite({ headers }: FastifyRequest, publicHost: string): void {
  if (isForeign(headers, publicHost)) throw foreign();
}

function foreign(): TesseraError {
  const message = `${CONSOLE_HEADER}: expected 1 from a page of this origin, got another request`;
  return new TesseraError('PERMISSION_DENIED', message, { field: CONSOLE_HEADER });
}
