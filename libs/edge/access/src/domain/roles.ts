/** Roles of people in the console, each of which may do what those before it may. */

import type { Scope } from './scopes.js';

/** read: look, try, compare, take notes; operate: erase users; admin: change what is served. */
export const ROLES = ['read', 'operate', 'admin'] as const;
export type Role = (typeof ROLES)[number];

const place = (role: Role) => ROLES.indexOf(role);

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

/** True if a role may do what another one may. */
export function reaches(role: Role, wanted: Role): boolean {
  return place(role) >= place(wanted);
}

/** The highest of several; undefined: none. */
export function highestRole(roles: readonly Role[]): Role | undefined {
  return [...roles].sort((a, b) => place(b) - place(a))[0];
}

/** A scope of the name of a role gives it. A scope of gRPC alone, such as `push`, gives none. */
export function roleOf(scopes: readonly Scope[]): Role | undefined {
  return highestRole(scopes.filter(isRole));
}
