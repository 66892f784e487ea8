/** A change as a line of a file says it: {"op", "item_id", ...}, or an item without an op. */

import { JSON_DEPTH_MAX, nestsTooDeep, TesseraError } from '@tessera/errors';
import type { CatalogueChange } from './change.js';

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
    if (typeof itemId === 'string' && itemId !== '') return itemId;
    return this.refuse('item_id', 'the ID of an item', itemId);
  }

  sid(): readonly number[] {
    const { sid } = this.members;
    const isCode = (code: unknown) => Number.isSafeInteger(code) && (code as number) >= 0;
    if (Array.isArray(sid) && sid.length > 0 && sid.every(isCode)) return sid as number[];
    return this.refuse('sid', 'a list of codes', sid);
  }

  title(): string {
    const { title = '' } = this.members;
    return typeof title === 'string' ? title : this.refuse('title', 'a text', title);
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
