/** Strict JSON -> message. Unknown fields are refused; what is left out has proto's default. */

import { expecting, idExpected, shown, TesseraError } from '@tessera/errors';
import type protobuf from 'protobufjs';
import type { FieldPlan, MessagePlans } from './message-plan.js';

const invalid = expecting('REQUEST_INVALID');

type JsonObject = Readonly<Record<string, unknown>>;

function asObject(path: string, value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(path, 'a JSON object', shown(value));
  }
  return value as JsonObject;
}

/** JSON can escape half of a surrogate pair, which no UTF-8 can carry. */
function asText(path: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(path, 'a string', shown(value));
  if (!value.isWellFormed()) throw invalid(path, 'well-formed Unicode', shown(value));
  return value;
}

function asId(path: string, value: unknown): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string') return asText(path, value);
  throw invalid(path, idExpected(value), shown(value));
}

/** In which range it has to be is checked where it is used. */
function asInteger(path: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw invalid(path, 'an integer', shown(value));
}

function asNumber(path: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw invalid(path, 'a number', shown(value));
}

function asFlag(path: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(path, 'true or false', shown(value));
}

function asWord(path: string, value: unknown, { words }: FieldPlan): number {
  const number =
    typeof value === 'string' && Object.hasOwn(words, value) ? words[value] : undefined;
  if (number !== undefined) return number;
  throw invalid(path, `one of ${Object.keys(words).join(', ')}`, shown(value));
}

/** Of a field that is left out. */
function defaultOf({ isList, isMap, isOptional, kind }: FieldPlan): unknown {
  if (isMap) return {};
  if (isOptional || kind === 'verbatim') return undefined;
  if (isList) return [];
  if (kind === 'flag') return false;
  return kind === 'text' || kind === 'id' ? '' : 0;
}

export class JsonReader {
  constructor(private readonly plans: MessagePlans) {}

  /** @throws TesseraError REQUEST_INVALID with the path of the field */
  read(type: protobuf.Type, json: unknown): object {
    return this.members(type, asObject('body', json), '');
  }

  private members(type: protobuf.Type, body: JsonObject, inside: string): object {
    const { fields } = this.plans.of(type);
    const unknown = Object.keys(body).find((name) => !fields.has(name));
    if (unknown !== undefined) {
      const field = inside + unknown;
      const message = `${field}: unknown field; expected ${[...fields.keys()].join(', ')}`;
      throw new TesseraError('REQUEST_INVALID', message, { field });
    }
    const message: Record<string, unknown> = {};
    for (const field of fields.values()) {
      const given = Object.hasOwn(body, field.name) ? body[field.name] : undefined;
      const isThere = given !== undefined || field.isRequired;
      message[field.name] = isThere
        ? this.field(field, inside + field.name, given)
        : defaultOf(field);
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
        return asInteger(path, value);
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
