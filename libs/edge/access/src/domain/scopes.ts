/** A scope for each kind of access, and the roles that include several. */

/**
 * `read`, `operate` and `admin` are the roles of the console; over gRPC and HTTP they include the
 * scopes of what they may do there.
 */
export const SCOPES = [
  'recall',
  'embed',
  'behaviour:write',
  'behaviour:read',
  'behaviour:erase',
  'catalogue:read',
  'catalogue:write',
  'kv',
  'push',
  'activate',
  'adapter:read',
  'weights:read',
  'weights:write',
  'metrics',
  'reflection',
  'read',
  'operate',
  'admin',
] as const;
export type Scope = (typeof SCOPES)[number];

/** Scopes that come with another one. */
const INCLUDED: Readonly<Partial<Record<Scope, readonly Scope[]>>> = {
  'catalogue:write': ['catalogue:read'],
  activate: ['weights:write'],
  read: ['adapter:read', 'weights:read', 'catalogue:read', 'metrics', 'reflection'],
  operate: ['read', 'behaviour:erase', 'kv'],
  admin: ['operate', 'activate', 'catalogue:write'],
};

/** The scopes that are granted and all that come with them. */
export function reachOf(granted: readonly Scope[]): ReadonlySet<Scope> {
  const reach = new Set<Scope>();
  const add = (scope: Scope): void => {
    if (reach.has(scope)) return;
    reach.add(scope);
    for (const included of INCLUDED[scope] ?? []) add(included);
  };
  for (const scope of granted) add(scope);
  return reach;
}

export const EVERY_SCOPE: ReadonlySet<Scope> = new Set(SCOPES);
