import { Injectable } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import type { FastifyRequest } from 'fastify';
import { CONSOLE_ROLES, type ConsoleRole, type Visitor } from './console-access.js';
import { ConsoleParts } from './console-parts.js';

/** Header that only a page of the same origin can set without being asked first. */
export const CONSOLE_HEADER = 'x-tessera-console';

/** What every request of the console passes first. */
@Injectable()
export class Gate {
  constructor(private readonly parts: ConsoleParts) {}

  /** @throws TesseraError UNAUTHENTICATED or PERMISSION_DENIED */
  look(request: FastifyRequest): Visitor {
    return this.require(request, 'read');
  }

  /**
   * For what changes something: from a page of this origin alone, and written to the log.
   * @throws TesseraError UNAUTHENTICATED or PERMISSION_DENIED
   */
  act(request: FastifyRequest, role: ConsoleRole, action: string, on: object = {}): Visitor {
    const visitor = this.require(request, role);
    checkOrigin(request);
    this.parts.log.info({ visitor: visitor.name, role: visitor.role, ...on }, `console: ${action}`);
    return visitor;
  }

  private require(request: FastifyRequest, role: ConsoleRole): Visitor {
    const visitor = this.parts.access.visitor({
      host: request.headers.host ?? '',
      header: (name) => request.headers[name]?.toString(),
    });
    const place = (one: ConsoleRole) => CONSOLE_ROLES.indexOf(one);
    if (place(visitor.role) >= place(role)) return visitor;
    const message = `role: expected ${role} or more, came ${visitor.role}`;
    throw new TesseraError('PERMISSION_DENIED', message, { field: 'role' });
  }
}

function checkOrigin({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  const origin = headers.origin;
  const isForeign =
    (site !== undefined && site !== 'same-origin' && site !== 'none') ||
    (origin !== undefined && !sameHost(origin, headers.host ?? ''));
  if (!isForeign && headers[CONSOLE_HEADER] === '1') return;
  const message = `${CONSOLE_HEADER}: expected 1 from a page of this origin, came another request`;
  throw new TesseraError('PERMISSION_DENIED', message, { field: CONSOLE_HEADER });
}

function sameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}
