/** A change as a line of a file says it: {"op", "item_id", ...}, or an item without an op. */

import { JSON_DEPTH_MAX, nestsTooDeep, TesseraError } from '@tessera/errors';
import type { CatalogueChange } from './change.js';

/** Levels of a semantic ID, and codes of a level, at most (native/src/catalogue). */
const LEVELS_MAX = 32;
const CODES_MAX = 1 << 20;

type Members = Readonly<Record<string, unknown>>;

const MEMBERS: Readonly<Record<CatalogueChange['op'], readonly string[]>> = {
  upsert: ['sid', 'title', 'attributes', 'priority'],
  pause: [],
  resume: [],
  remove: [],
  set_attributes: ['attributes'],
  set_priority: ['priority'],
};

/** Reads the members of one line. */
class Line {
  constructor(
    private readonly number: number,
    private readonly members: Members,
  ) {}

  refuse(member: string, expected: string, got: unknown): never {
    const text = JSON.stringify(got) ?? 'nothing';
    const field = `lines[${this.number}]${member === '' ? '' : `.${member}`}`;
    const at = member === '' ? '' : `${member}: `;
    const message = `line ${this.number}: ${at}expected ${expected}`;
    throw new TesseraError('CATALOGUE_INVALID', `${message}, got ${text.slice(0, 80)}`, { field });
  }

  op(): CatalogueChange['op'] {
    const { op = 'upsert' } = this.members;
    const known = Object.keys(MEMBERS).find((one) => one === op);
    return (
      (known as CatalogueChange['op']) ?? this.refuse('op', Object.keys(MEMBERS).join(', '), op)
    );
  }

  checkMembers(known: readonly string[]): void {
    const all = ['op', 'item_id', ...known];
    const stranger = Object.keys(this.members).find((name) => !all.includes(name));
    if (stranger !== undefined)
      this.refuse(stranger.slice(0, 80), `one of ${all.join(', ')}`, null);
  }

  itemId(): string {
    const { item_id: itemId } = this.members;
    if (Number.isSafeInteger(itemId)) return String(itemId);
    const expected = 'the ID of an item, a text or an integer';
    return this.text('item_id', itemId) || this.refuse('item_id', expected, itemId);
  }

  sid(): readonly number[] {
    const { sid } = this.members;
    const isCode = (code: unknown) =>
      Number.isSafeInteger(code) && (code as number) >= 0 && (code as number) < CODES_MAX;
    const isSid = Array.isArray(sid) && sid.length > 0 && sid.length <= LEVELS_MAX;
    if (isSid && sid.every(isCode)) return sid as number[];
    const expected = `a list of 1 to ${LEVELS_MAX} codes below ${CODES_MAX}`;
    return this.refuse('sid', expected, sid);
  }

  title(): string {
    const { title = '' } = this.members;
    return this.text('title', title);
  }

  /** JSON can escape half of a surrogate pair, which no UTF-8 can carry. */
  private text(member: string, value: unknown): string {
    if (typeof value === 'string' && value.isWellFormed()) return value;
    return this.refuse(member, 'a text of well-formed Unicode', value);
  }

  attributes(fallback?: object): string {
    const { attributes = fallback } = this.members;
    if (typeof attributes === 'object' && attributes !== null && !Array.isArray(attributes)) {
      return JSON.stringify(attributes);
    }
    return this.refuse('attributes', 'a JSON object', attributes);
  }

  priority(fallback?: number): number {
    const { priority = fallback } = this.members;
    return Number.isFinite(priority)
      ? (priority as number)
      : this.refuse('priority', 'a finite number', priority);
  }
}

/**
 * @param number of the line, from 1: named by whoever is refused
 * @throws TesseraError CATALOGUE_INVALID with the line and the member at fault
 */
export function parseChangeLine(text: string, number: number): CatalogueChange {
  let members: unknown;
  try {
    members = nestsTooDeep(text) ? undefined : JSON.parse(text);
  } catch {
    members = undefined;
  }
  const line = new Line(number, (members ?? {}) as Members);
  if (typeof members !== 'object' || members === null || Array.isArray(members)) {
    line.refuse('', `a JSON object nested at most ${JSON_DEPTH_MAX} deep`, text);
  }
  const op = line.op();
  line.checkMembers(MEMBERS[op]);
  const itemId = line.itemId();
  switch (op) {
    case 'upsert':
      return {
        op,
        itemId,
        sid: line.sid(),
        title: line.title(),
        attributes: line.attributes({}),
        priority: line.priority(0),
      };
    case 'set_attributes':
      return { op, itemId, attributes: line.attributes() };
    case 'set_priority':
      return { op, itemId, priority: line.priority() };
    default:
      return { op, itemId };
  }
}
