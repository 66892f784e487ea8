/** Claims of an OpenID provider about a person, as roles. */

import { TesseraError } from '@tessera/errors';
import { isRole, ROLES, type Role } from './roles.js';

/** The claim of a name; else what lies at its path, as `realm_access.roles`. */
export function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split('.').reduce<unknown>((value, name) => {
    const isGroup = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    return isGroup ? (value as Record<string, unknown>)[name] : undefined;
  }, claims);
}

/** A claim is one text, several with spaces between, or a list. */
export function rolesOfClaim(claim: unknown, roles: ReadonlyMap<string, Role>): readonly Role[] {
  const values = Array.isArray(claim) ? claim : typeof claim === 'string' ? claim.split(' ') : [];
  return [claim, ...values].flatMap((value) => roles.get(String(value)) ?? []);
}

/**
 * `VALUE=ROLE`, separated by commas.
 * @throws TesseraError CONFIG_INVALID
 */
export function parseClaimRoles(text: string): ReadonlyMap<string, Role> {
  const pairs = text.split(',').map((pair) => {
    const at = pair.lastIndexOf('=');
    const [value, role] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    if (at > 0 && value !== '' && isRole(role)) return [value, role] as const;
    const message = `oidc.roles: expected VALUE=ROLE of ${ROLES.join(', ')}, got '${pair}'`;
    throw new TesseraError('CONFIG_INVALID', message, { field: 'oidc.roles' });
  });
  return new Map(pairs);
}
