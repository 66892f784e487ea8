/**
 * A change as a line of a file says it: {"op", "item_id" or "predicate", ...}, or an item without
 * an op.
 */

import type { Pace } from '@tessera/engine';
import { finiteJson, idExpected, jsonFault, TesseraError } from '@tessera/errors';
import {
  type AttributePatch,
  type CatalogueChange,
  type ChangedItems,
  PACE_EXPECTED,
  type PatchTexts,
  type UpsertChange,
} from './change.js';
import { FormReader, readClause } from './clause-json.js';

/** Levels of a semantic ID, and codes of a level, at most (native/src/catalogue). */
const LEVELS_MAX = 32;
const CODES_MAX = 1 << 20;

const reader = new FormReader('CATALOGUE_INVALID');

type Members = Readonly<Record<string, unknown>>;

const MEMBERS: Readonly<Record<CatalogueChange['op'], readonly string[]>> = {
  upsert: ['sid', 'title', 'attributes', 'priority', 'vector', 'text', 'codebooks'],
  pause: ['predicate'],
  resume: ['predicate'],
  remove: ['predicate'],
  set_attributes: ['attributes'],
  set_priority: ['priority'],
  patch_attributes: ['predicate', 'set', 'unset', 'add', 'take', 'delta'],
  set_pace: ['attribute', 'text', 'factor'],
};

/** Reads the members of one line. */
class Line {
  constructor(
    private readonly number: number,
    private readonly members: Members,
  ) {}

  refuse(member: string, expected: string, got: unknown): never {
    const text = typeof got === 'number' ? String(got) : (JSON.stringify(got) ?? 'nothing');
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
    const all = ['op', ...(this.members.op === 'set_pace' ? [] : ['item_id']), ...known];
    const stranger = Object.keys(this.members).find((name) => !all.includes(name));
    if (stranger !== undefined)
      this.refuse(stranger.slice(0, 80), `one of ${all.join(', ')}`, null);
  }

  itemId(): string {
    const { item_id: itemId } = this.members;
    if (Number.isSafeInteger(itemId)) return String(itemId);
    return this.text('item_id', itemId) || this.refuse('item_id', idExpected(itemId), itemId);
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
    return this.optionalText('title');
  }

  /** Semantic ID of the item, or its source. */
  source(): Pick<UpsertChange, 'sid' | 'vector' | 'text' | 'codebooks'> {
    const { sid, vector, text } = this.members;
    if (vector === undefined && text === undefined) return { sid: this.sid() };
    const other = sid === undefined ? undefined : 'sid';
    const both = vector === undefined || text === undefined ? other : 'vector';
    if (both !== undefined) this.refuse(both, 'one of sid, vector and text', this.members[both]);
    const codebooks = this.optionalText('codebooks');
    if (text !== undefined) return { sid: [], text: this.fullText('text', text), codebooks };
    const isVector = Array.isArray(vector) && vector.length > 0;
    if (isVector && vector.every(Number.isFinite)) return { sid: [], vector, codebooks };
    return this.refuse('vector', 'a list of finite numbers', vector);
  }

  private optionalText(member: string): string {
    const { [member]: text = '' } = this.members;
    return this.text(member, text);
  }

  private fullText(member: string, value: unknown): string {
    return this.text(member, value) || this.refuse(member, 'a text that is not empty', value);
  }

  /** JSON can escape half of a surrogate pair, which no UTF-8 can carry. */
  private text(member: string, value: unknown): string {
    if (typeof value === 'string' && value.isWellFormed()) return value;
    return this.refuse(member, 'a text of well-formed Unicode', value);
  }

  attributes(fallback?: object): string {
    const { attributes = fallback } = this.members;
    return this.objectText('attributes', attributes);
  }

  private objectText(member: string, value: unknown): string {
    const text = finiteJson(this.object(member, value));
    return typeof text === 'string' ? text : this.refuse(member, 'finite numbers', text);
  }

  /** Items of a change: one item or a predicate, not both. */
  items(): ChangedItems {
    const { item_id: itemId, predicate } = this.members;
    if (predicate === undefined) return { itemId: this.itemId() };
    if (itemId !== undefined) this.refuse('predicate', 'none beside item_id', predicate);
    const field = `lines[${this.number}].predicate`;
    return { itemId: '', predicate: readClause(reader, field, predicate) };
  }

  patch(): AttributePatch {
    const { set, unset = [], add, take, delta } = this.members;
    return {
      set: set === undefined ? '' : this.objectText('set', set),
      unset: this.texts('unset', unset),
      add: this.textsByName('add', add),
      take: this.textsByName('take', take),
      delta: Object.entries(this.object('delta', delta ?? {})).map(([attribute, number]) => ({
        attribute,
        delta: Number.isFinite(number)
          ? (number as number)
          : this.refuse(`delta.${attribute}`, 'a finite number', number),
      })),
    };
  }

  private object(member: string, value: unknown): Members {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Members) : this.refuse(member, 'a JSON object', value);
  }

  private texts(member: string, value: unknown): readonly string[] {
    if (!Array.isArray(value)) return this.refuse(member, 'a list of texts', value);
    return value.map((one, i) => this.text(`${member}[${i}]`, one));
  }

  private textsByName(member: string, value: unknown): readonly PatchTexts[] {
    return Object.entries(this.object(member, value ?? {})).map(([attribute, texts]) => ({
      attribute,
      texts: this.texts(`${member}.${attribute}`, texts),
    }));
  }

  /** Its factor is checked with the batch. */
  pace(): Pace {
    const { attribute, text, factor } = this.members;
    const isNumber = typeof factor === 'number';
    return {
      attribute: this.fullText('attribute', attribute),
      text: this.fullText('text', text),
      factor: isNumber ? factor : this.refuse('factor', PACE_EXPECTED, factor),
    };
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
    members = JSON.parse(text);
  } catch {
    members = undefined;
  }
  const line = new Line(number, (members ?? {}) as Members);
  if (typeof members !== 'object' || members === null || Array.isArray(members)) {
    line.refuse('', 'a JSON object', text);
  }
  const fault = jsonFault(text);
  if (fault !== undefined) line.refuse(fault.key, fault.expected, fault.got);
  const op = line.op();
  line.checkMembers(MEMBERS[op]);
  switch (op) {
    case 'upsert':
      return {
        op,
        itemId: line.itemId(),
        ...line.source(),
        title: line.title(),
        attributes: line.attributes({}),
        priority: line.priority(0),
      };
    case 'set_attributes':
      return { op, itemId: line.itemId(), attributes: line.attributes() };
    case 'set_priority':
      return { op, itemId: line.itemId(), priority: line.priority() };
    case 'set_pace':
      return { op, itemId: '', pace: line.pace() };
    case 'patch_attributes':
      return { op, ...line.items(), patch: line.patch() };
    default:
      return { op, ...line.items() };
  }
}
