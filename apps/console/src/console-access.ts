import { hostOfHeader, isLoopback, type Role } from '@tessera/access';
import { TesseraError } from '@tessera/errors';

/** The person who asks. */
export interface Visitor {
  readonly name: string;
  readonly role: Role;
}

/** The part of a request that says who asks. */
export interface VisitorRequest {
  /** Header `host`. */
  readonly host: string;
  /** Header `cookie`. */
  readonly cookie: string;
  /** Header `authorization`. */
  readonly authorization: string;
}

/** Port: who may use the console, and as what. */
export abstract class ConsoleAccess {
  /** Resolves to undefined where somebody has to log in first. Rejects with PERMISSION_DENIED. */
  abstract visitor(request: VisitorRequest): Promise<Visitor | undefined>;
}

/**
 * Anybody on this machine may do everything. The host that is asked for must be this machine by
 * name as well: a page from elsewhere may have a name that leads here.
 */
export class LoopbackAccess extends ConsoleAccess {
  async visitor({ host }: VisitorRequest): Promise<Visitor> {
    const name = hostOfHeader(host);
    if (name !== undefined && isLoopback(name)) return { name: 'local', role: 'admin' };
    const message = `host: expected a name of this machine, got ${host.slice(0, 80)}`;
    throw new TesseraError('PERMISSION_DENIED', message, { field: 'host' });
  }
}
