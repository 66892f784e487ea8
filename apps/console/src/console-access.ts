import { TesseraError } from '@tessera/errors';

/** read: look, try, compare, take notes; operate: erase users; admin: change what is served. */
export const CONSOLE_ROLES = ['read', 'operate', 'admin'] as const;
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

/** Who asks. */
export interface Visitor {
  readonly name: string;
  readonly role: ConsoleRole;
}

/** The part of a request that says who asks. */
export interface VisitorRequest {
  readonly host: string;
  readonly header: (name: string) => string | undefined;
}

/** Port: who may use the console, and as what. */
export abstract class ConsoleAccess {
  /** Whether a token is to be asked for. */
  abstract readonly needsToken: boolean;
  /** @throws TesseraError UNAUTHENTICATED or PERMISSION_DENIED */
  abstract visitor(request: VisitorRequest): Visitor;
}

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Whether an address that is listened on is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/**
 * Whoever is on this machine may do everything. The host that is asked for must be this machine by
 * name as well: a page from elsewhere may have a name that leads here.
 */
export class LoopbackAccess extends ConsoleAccess {
  readonly needsToken = false;

  visitor({ host }: VisitorRequest): Visitor {
    const name = host.replace(/:\d+$/, '').toLowerCase();
    if (LOOPBACK_HOSTS.includes(name) || isLoopback(name)) return { name: 'local', role: 'admin' };
    const message = `host: expected ${LOOPBACK_HOSTS.join(', ')}, came ${name.slice(0, 80)}`;
    throw new TesseraError('PERMISSION_DENIED', message, { field: 'host' });
  }
}

/** Nobody: the service is reached by others, or asks for tokens. */
export class ClosedAccess extends ConsoleAccess {
  readonly needsToken = false;

  visitor(): Visitor {
    throw new TesseraError(
      'PERMISSION_DENIED',
      'console: expected http.host on this machine and no access.tokensPath, came another set-up',
    );
  }
}
