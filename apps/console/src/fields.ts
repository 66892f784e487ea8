/** Reading what a page sends. Every refusal names its field. */

import { expecting } from '@tessera/errors';

export const invalid = expecting('REQUEST_INVALID');

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a body, without a check of their names. */
export function anyFieldsOf(body: unknown): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid('body', 'a JSON object', body);
  }
  return body as Fields;
}

export function fieldsOf(body: unknown, known: readonly string[]): Fields {
  const fields = anyFieldsOf(body);
  const stranger = Object.keys(fields).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw invalid(stranger, `one of ${known.join(', ')}`, 'an unknown field');
  return fields;
}

export function textOf(fields: Fields, name: string, lengthMax: number): string {
  const value = fields[name];
  if (typeof value === 'string' && value.length > 0 && value.length <= lengthMax) return value;
  throw invalid(name, `text of 1..${lengthMax} characters`, value ?? 'nothing');
}

export function optionalText(fields: Fields, name: string, lengthMax: number): string | undefined {
  return fields[name] === undefined || fields[name] === ''
    ? undefined
    : textOf(fields, name, lengthMax);
}

/** Seed of draws: the same seed draws the same. */
export const SEED_BOUNDS = { min: 0, max: 0xffff_ffff, fallback: 1 };

/** Also as text: queries of addresses have nothing else. */
export function integerOf(
  fields: Fields,
  name: string,
  { min, max, fallback }: { min: number; max: number; fallback?: number },
): number {
  const given = fields[name];
  if (given === undefined && fallback !== undefined) return fallback;
  const value = typeof given === 'string' && given !== '' ? Number(given) : given;
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) {
    return value as number;
  }
  throw invalid(name, `an integer of ${min}..${max}`, given ?? 'nothing');
}

/** A number above 0 and at most 1. */
export function shareOf(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value === 'number' && value > 0 && value <= 1) return value;
  throw invalid(name, 'a number above 0 and at most 1', value ?? 'nothing');
}

export function flagOf(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw invalid(name, 'true or false', value);
}

export function textsOf(fields: Fields, name: string, countMax: number): readonly string[] {
  const value = fields[name];
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (isList && value.length <= countMax) return value as string[];
  throw invalid(name, `a list of at most ${countMax} texts`, value ?? 'nothing');
}
