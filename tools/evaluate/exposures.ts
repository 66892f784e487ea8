import type { Behaviour } from '@tessera/behaviour';
import { loadBehaviourStore, MemoryBehaviourStore, readUsersText } from '@tessera/behaviour';
import { fail } from '../terminal/command.js';

/** An item that was shown to a user, with its outcomes. */
export interface Exposure {
  readonly user: string;
  readonly item: string;
  /** By head; NaN: not known. */
  readonly labels: ReadonlyMap<string, number>;
}

/** Exposures of one user at one time: ranked together. */
export interface Impression {
  /** Of the user as they were then. */
  readonly userId: string;
  readonly exposures: readonly Exposure[];
}

export interface Exposures {
  readonly heads: readonly string[];
  /** In the order of the file. */
  readonly all: readonly Exposure[];
  /** Of users who had done something before. */
  readonly impressions: readonly Impression[];
  /** The users of the impressions, each with what they had done before it. */
  readonly store: MemoryBehaviourStore;
}

const FIRST_COLUMNS = ['user', 'time', 'item'] as const;
/** Of the trainer; figures do not weigh rows. */
const OTHER_COLUMNS = ['weight', 'propensity'];

interface TimedExposure extends Exposure {
  readonly time: number;
}

function numberAt(line: number, name: string, cell: string): number {
  const value = cell === '' ? Number.NaN : Number(cell);
  if (Number.isFinite(value) || (cell === '' && name !== 'time')) return value;
  return fail('rank', `a number as ${name} of line ${line}`, `'${cell.slice(0, 40)}'`);
}

/** Lines behind a header: `user`, `time`, `item` and a column for each head. */
export function parseExposures(text: string) {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const header = lines[0]?.split('\t') ?? [];
  const missing = FIRST_COLUMNS.find((name) => !header.includes(name));
  if (missing !== undefined) fail('rank', `a column ${missing} in line 1`, `'${header.join(' ')}'`);
  const own: readonly string[] = [...FIRST_COLUMNS, ...OTHER_COLUMNS];
  const heads = header.filter((name) => !own.includes(name));
  if (heads.length === 0) fail('rank', 'a column for each head in line 1', 'none');
  const all: TimedExposure[] = [];
  lines.forEach((line, index) => {
    if (index === 0 || line === '') return;
    const cells = line.split('\t');
    if (cells.length !== header.length) {
      fail('rank', `${header.length} columns in line ${index + 1}`, String(cells.length));
    }
    const at = (name: string) => cells[header.indexOf(name)] ?? '';
    all.push({
      user: at('user'),
      time: numberAt(index + 1, 'time', at('time')),
      item: at('item'),
      labels: new Map(heads.map((name) => [name, numberAt(index + 1, name, at(name))])),
    });
  });
  if (all.length === 0) fail('rank', 'an exposure', 'none');
  return { heads, all };
}

/** Exposures with the users as they were at the time. Rejects as the readers of both files do. */
export async function readExposures(path: string, historiesPath: string): Promise<Exposures> {
  const { heads, all } = parseExposures(await readUsersText(path));
  const histories = await loadBehaviourStore(historiesPath);
  const impressions: Impression[] = [];
  const users = new Map<string, { behaviours: Behaviour[]; profile: Record<string, string> }>();
  const byMoment = Map.groupBy(all, ({ user, time }) => `${user}@${time}`);
  for (const [userId, exposures] of byMoment) {
    const { user = '', time = 0 } = exposures[0] ?? {};
    const behaviours = (await histories.history(user, Number.MAX_SAFE_INTEGER)) ?? [];
    const before = behaviours.filter((behaviour) => behaviour.time < time);
    if (before.length === 0) continue;
    users.set(userId, { behaviours: before, profile: { ...(await histories.profile(user)) } });
    impressions.push({ userId, exposures });
  }
  if (impressions.length === 0) fail('histories', 'a behaviour before an exposure', 'none');
  return { heads, all, impressions, store: new MemoryBehaviourStore(users) };
}
