/** Message -> JSON. Fields that the descriptor lacks are left out. */

import type protobuf from 'protobufjs';
import type { FieldPlan, MessagePlans } from './message-plan.js';

type Message = Readonly<Record<string, unknown>>;

function wordOf({ name, words }: FieldPlan, number: unknown): string {
  const found = Object.keys(words).find((word) => words[word] === number);
  if (found === undefined) throw new Error(`${name}: expected a value with a word, got ${number}`);
  return found;
}

/** Text of JSON that is not there. */
function isNoText({ kind }: FieldPlan, value: unknown): boolean {
  return kind === 'verbatim' && value === '';
}

export class JsonWriter {
  constructor(private readonly plans: MessagePlans) {}

  write(type: protobuf.Type, message: object): object {
    const json: Record<string, unknown> = {};
    for (const field of this.plans.of(type).fields.values()) {
      const value = (message as Message)[field.name];
      const isThere = value !== undefined && value !== null && !isNoText(field, value);
      if (isThere) json[field.name] = this.field(field, value);
    }
    return json;
  }

  private field(field: FieldPlan, value: unknown): unknown {
    if (field.isMap) return value;
    const content = field.listIn === '' ? value : (value as Message)[field.listIn];
    if (!field.isList) return this.one(field, content);
    return (content as readonly unknown[]).map((entry) => this.one(field, entry));
  }

  private one(field: FieldPlan, value: unknown): unknown {
    if (field.kind === 'word') return wordOf(field, value);
    if (field.kind === 'verbatim') return JSON.parse(value as string);
    if (field.message === undefined) return value;
    return this.write(field.message, value as object);
  }
}
