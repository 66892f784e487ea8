import { TesseraError } from '@tessera/errors';
import type { AccessControl } from './access-control.js';
import type { AccessRule } from './access-rule.js';
import type { Change, ChangeAudits } from './change-audits.js';
import { type Credentials, checkScope, type Principal } from './domain/grants.js';

export interface EdgeGuardParts {
  readonly control: Pick<AccessControl, 'identify'>;
  readonly edge: Change['edge'];
  /** Address that the edge listens on. */
  readonly host: string;
  readonly changes: Pick<ChangeAudits, 'note'>;
  /** Told the code of each refusal. */
  readonly onRefused: (edge: string, code: string) => void;
}

/** Caller of what is open on purpose. */
const UNASKED: Principal = { name: '' };

/** Lets callers of one edge in as the access table says, before anything is parsed. */
export class EdgeGuard {
  constructor(private readonly parts: EdgeGuardParts) {}

  /**
   * The caller. A rule that asks for a role of the console is left to the console.
   * @throws TesseraError UNAUTHENTICATED, PERMISSION_DENIED, CONFIG_INVALID
   */
  enter(rule: AccessRule | undefined, credentials: Credentials): Principal {
    const { control, host } = this.parts;
    let actor = '';
    try {
      if (rule === undefined) throw unlisted();
      const { need } = rule;
      if (need === 'open' || 'role' in need) return UNASKED;
      const holder = control.identify(credentials, host);
      actor = holder.name;
      checkScope(holder, need.scope);
      return holder;
    } catch (thrown) {
      throw this.refused(rule?.action, actor, TesseraError.from(thrown));
    }
  }

  /** Counts a refusal, and audits it where a change was refused. */
  refused(action: string | undefined, actor: string, error: TesseraError): TesseraError {
    const { edge, changes, onRefused } = this.parts;
    onRefused(edge, error.code);
    if (action !== undefined) {
      changes.note({ action, actor, edge, name: '', detail: error.message }, error.code);
    }
    return error;
  }
}

function unlisted(): TesseraError {
  const message = 'access: expected a method or route of the access table, got another';
  return new TesseraError('PERMISSION_DENIED', message);
}
