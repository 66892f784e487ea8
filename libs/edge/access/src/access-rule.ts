/** Requirements of a method or route for its caller; the rows are in libs/edge/methods. */

import type { Role } from './domain/roles.js';
import type { Scope } from './domain/scopes.js';

/** `open`: nothing is needed, on purpose. A role: somebody who is logged in to the console. */
export type Need = 'open' | { readonly scope: Scope } | { readonly role: Role };

export interface AccessRule {
  readonly need: Need;
  /** Its name in audits; left out: it changes nothing. */
  readonly action?: string;
}
