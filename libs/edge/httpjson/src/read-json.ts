/**
 * JSON -> message by the mapping of proto3: a field by either spelling, integers as text too. The
 * parser of bodies has taken nulls for absent. Unknown fields are refused; what is left out has
 * proto's default.
 */

import { expecting, idExpected, shown, TesseraError } from '@tessera/errors';
import type protobuf from 'protobufjs';
import { type FieldPlan, inProto, type MessagePlans } from './message-plan.js';

const invalid = expecting('REQUEST_INVALID');

type JsonObject = Readonly<Record<string, unknown>>;

/** The member of a body with a name of ours, by either spelling. */
export function memberOf(body: unknown, name: string): unknown {
  const members = Object(body) as JsonObject;
  const key = Object.hasOwn(members, name) ? name : inProto(name);
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Number in a text, as proto3 writes integers of 64 bits. */
export function numberIn(value: unknown): unknown {
  return typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
}

function asObject(path: string, value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(path, 'a JSON object', shown(value));
  }
  return value as JsonObject;
}

/**
 * JSON can escape half of a surrogate pair, which no UTF-8 can carry.
 * @throws TesseraError REQUEST_INVALID
 */
export function wellFormed(path: string, text: string): string {
  if (text.isWellFormed()) return text;
  throw invalid(path, 'well-formed Unicode', shown(text));
}

function asText(path: string, value: unknown): string {
  if (typeof value === 'string') return wellFormed(path, value);
  throw invalid(path, 'a string', shown(value));
}

/** An ID as it is given: an integer stands for its digits, any other value for itself. */
export const idIn = (value: unknown): unknown =>
  Number.isSafeInteger(value) ? String(value) : value;

function asId(path: string, value: unknown): string {
  const id = idIn(value);
  if (typeof id === 'string') return wellFormed(path, id);
  throw invalid(path, idExpected(value), shown(value));
}

/** Integer within the range of its type. Narrower bounds are checked where it is used. */
function asInteger(path: string, value: unknown, [least, most]: FieldPlan['range']): number {
  const number = numberIn(value) as number;
  if (!Number.isInteger(number)) throw invalid(path, 'an integer', shown(value));
  if (number >= least && number <= most) return number;
  throw invalid(path, `an integer in ${least}..${most}`, shown(value));
}

function asNumber(path: string, value: unknown): number {
  const number = numberIn(value);
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw invalid(path, 'a number', shown(value));
}

function asFlag(path: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(path, 'true or false', shown(value));
}

function asWord(path: string, value: unknown, { words, protoWords }: FieldPlan): number {
  const table = [words, protoWords].find((known) => Object.hasOwn(known, String(value)));
  if (typeof value === 'string' && table !== undefined) return table[value] as number;
  throw invalid(path, `one of ${Object.keys(words).join(', ')}`, shown(value));
}

/** Value of a field that is left out. */
function defaultOf({ isList, isMap, isOptional, kind }: FieldPlan): unknown {
  if (isMap) return {};
  if (isOptional || kind === 'verbatim') return undefined;
  if (isList) return [];
  if (kind === 'flag') return false;
  return kind === 'text' || kind === 'id' ? '' : 0;
}

/** Proto would keep one of them and drop the others without a word. */
function refuseSeveral(
  exclusive: readonly FieldPlan[],
  given: ReadonlyMap<FieldPlan, unknown>,
  inside: string,
): void {
  const names = exclusive.filter((field) => given.get(field) !== undefined).map(({ name }) => name);
  if (names.length < 2) return;
  const path = inside === '' ? 'body' : inside.slice(0, -1);
  const known = exclusive.map(({ name }) => name).join(', ');
  throw invalid(path, `one of ${known}`, names.join(' and '));
}

export class JsonReader {
  constructor(private readonly plans: MessagePlans) {}

  /** @throws TesseraError REQUEST_INVALID with the path of the field */
  read(type: protobuf.Type, json: unknown): object {
    return this.members(type, asObject('body', json), '');
  }

  private members(type: protobuf.Type, body: JsonObject, inside: string): object {
    const { fields, spelled, exclusive } = this.plans.of(type);
    const given = new Map<FieldPlan, unknown>();
    for (const [name, value] of Object.entries(body)) {
      const field = spelled.get(name);
      if (field === undefined || given.has(field)) {
        const expected = field === undefined ? [...fields.keys()].join(', ') : field.name;
        const fault = field === undefined ? 'unknown field' : 'the field stands there twice';
        const message = `${inside}${name}: ${fault}; expected ${expected}`;
        throw new TesseraError('REQUEST_INVALID', message, { field: inside + name });
      }
      given.set(field, value);
    }
    for (const several of exclusive) refuseSeveral(several, given, inside);
    const message: Record<string, unknown> = {};
    for (const field of new Set(spelled.values())) {
      const value = given.get(field);
      if (value !== undefined || field.isRequired) {
        message[field.name] = this.field(field, inside + field.name, value);
      } else if (fields.has(field.name)) {
        message[field.name] = defaultOf(field);
      }
    }
    return message;
  }

  private field(field: FieldPlan, path: string, given: unknown): unknown {
    if (field.isMap) {
      const entries = Object.entries(asObject(path, given)).map(([key, entry]) => [
        asText(`${path} key`, key),
        this.one(field, `${path}.${key}`, entry),
      ]);
      return Object.fromEntries(entries);
    }
    if (!field.isList) return this.one(field, path, given);
    if (field.listOf !== undefined && typeof given === 'object' && !Array.isArray(given)) {
      return this.members(field.listOf, asObject(path, given), `${path}.`);
    }
    if (!Array.isArray(given)) throw invalid(path, 'a list', shown(given));
    const list = given.map((entry, index) => this.one(field, `${path}[${index}]`, entry));
    return field.listIn === '' ? list : { [field.listIn]: list };
  }

  private one(field: FieldPlan, path: string, value: unknown): unknown {
    switch (field.kind) {
      case 'text':
        return asText(path, value);
      case 'id':
        return asId(path, value);
      case 'flag':
        return asFlag(path, value);
      case 'integer':
        return asInteger(path, value, field.range);
      case 'number':
        return asNumber(path, value);
      case 'word':
        return asWord(path, value, field);
      case 'verbatim':
        return asObject(path, value);
      case 'message':
        return this.message(field.message as protobuf.Type, path, value);
    }
  }

  private message(type: protobuf.Type, path: string, value: unknown): object {
    const { bare } = this.plans.of(type);
    if (bare !== undefined && (typeof value === 'string' || typeof value === 'number')) {
      return { [bare.name]: this.field(bare, path, value) };
    }
    return this.members(type, asObject(path, value), `${path}.`);
  }
}
