import { expecting } from '@tessera/errors';

const invalid = expecting('CONFIG_INVALID');

const CLUSTER_LIMITS = {
  membersMax: 1000,
  nameMax: 253,
  weightMax: 1000,
} as const;

/** Calls of a role: those that compute new behaviours ahead of a recall, and all others. */
export const CALL_ROLES = ['answer', 'append'] as const;
export type CallRole = (typeof CALL_ROLES)[number];

/** Calls that a node is for. */
export type NodeRole = CallRole | 'both';

const NODE_ROLES: readonly string[] = ['both', ...CALL_ROLES];

export function isNodeRole(text: string): text is NodeRole {
  return NODE_ROLES.includes(text);
}

/** A node as membership knows it. Addresses are HOST:PORT. */
export interface Member {
  readonly name: string;
  readonly grpc: string;
  readonly http: string;
  /** Its share of the users, relative to the other weights; 1..1000. */
  readonly weight: number;
  /** Left out: both. */
  readonly role?: NodeRole;
}

/** True for a node that is there for the calls of a role. */
export function isOfRole({ role = 'both' }: Pick<Member, 'role'>, wanted: CallRole): boolean {
  return role === 'both' || role === wanted;
}

const ADDRESS = /^(\[[0-9a-f:.]+\]|[^\s:[\]]+):(\d{1,5})$/i;

function checkAddress(field: string, address: string): void {
  const port = Number(ADDRESS.exec(address)?.[2] ?? 0);
  if (port < 1 || port > 65_535) throw invalid(field, 'HOST:PORT', address);
}

/**
 * Members in the order of their names, which every table of them has.
 * @throws TesseraError CONFIG_INVALID: too many, a name or an address that two have, a bad value
 */
export function checkedMembers(
  members: readonly Member[],
  field = 'cluster.nodes',
): readonly Member[] {
  const { membersMax, nameMax, weightMax } = CLUSTER_LIMITS;
  if (members.length > membersMax) {
    throw invalid(field, `at most ${membersMax} nodes`, members.length);
  }
  const seen = new Map<string, string>();
  for (const { name, grpc, http, weight, role = 'both' } of members) {
    if (name.length < 1 || name.length > nameMax) {
      throw invalid(field, `a name of 1..${nameMax} characters`, name);
    }
    if (!Number.isInteger(weight) || weight < 1 || weight > weightMax) {
      throw invalid(field, `a weight of 1..${weightMax} for ${name}`, weight);
    }
    if (!isNodeRole(role)) {
      throw invalid(field, `a role of ${NODE_ROLES.join(', ')} for ${name}`, role);
    }
    checkAddress(`${field}: ${name}`, grpc);
    checkAddress(`${field}: ${name}`, http);
    for (const own of [`name ${name}`, `address ${grpc}`, `address ${http}`]) {
      const other = seen.get(own);
      if (other !== undefined) throw invalid(field, 'each name and address once', `${own} twice`);
      seen.set(own, name);
    }
  }
  return [...members].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Members that are valid, earlier ones first; others are skipped with the error of each. */
export function possibleMembers(
  members: readonly Member[],
  field: string,
  skip: (thrown: unknown) => void,
): readonly Member[] {
  try {
    return checkedMembers(members, field);
  } catch {
    let possible: readonly Member[] = [];
    for (const member of members) {
      try {
        possible = checkedMembers([...possible, member], field);
      } catch (thrown) {
        skip(thrown);
      }
    }
    return possible;
  }
}

/**
 * NAME=GRPC_ADDRESS/HTTP_ADDRESS, `*WEIGHT` behind where it is not 1, `@append` or `@answer` behind
 * where the role is not both; separated by commas.
 */
export function parseMembers(text: string, field = 'cluster.nodes'): readonly Member[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const members = words.map((word): Member => {
    const parts = /^([^=]+)=([^/]+)\/([^*@]+)(?:\*(\d+))?(?:@(.*))?$/.exec(word);
    const [, name, grpc, http, weight = '1', role = 'both'] = parts ?? [];
    if (name === undefined || grpc === undefined || http === undefined) {
      const expected = 'NAME=GRPC_HOST:PORT/HTTP_HOST:PORT, with *WEIGHT and @ROLE or without';
      throw invalid(field, expected, word);
    }
    return { name, grpc, http, weight: Number(weight), role: role as NodeRole };
  });
  return checkedMembers(members, field);
}

/** True if both have the same members, in whatever order. */
export function isSameMembers(a: readonly Member[], b: readonly Member[]): boolean {
  const key = (members: readonly Member[]) =>
    members.map(({ name, grpc, http, weight, role = 'both' }) =>
      JSON.stringify([name, grpc, http, weight, role]),
    );
  return key(a).sort().join() === key(b).sort().join();
}
