/** Keys of the configuration: type, bounds, default and meaning. */

import { z } from 'zod';

export interface LeafMeta {
  readonly expected: string;
  readonly meaning: string;
  /** The text in docs where the default depends on the machine. */
  readonly defaultText?: string;
}

export function integer(
  min: number,
  max: number,
  fallback: number,
  meaning: string,
  defaultText?: string,
) {
  const meta = { expected: `integer ${min}..${max}`, meaning };
  return z
    .int()
    .min(min)
    .max(max)
    .default(fallback)
    .meta(defaultText === undefined ? meta : { ...meta, defaultText });
}

export function text(fallback: string, meaning: string, expected = 'text') {
  return z.string().max(4096).default(fallback).meta({ expected, meaning });
}

export function nonEmptyText(fallback: string, meaning: string) {
  const expected = 'text that is not empty';
  return z.string().min(1).max(4096).default(fallback).meta({ expected, meaning });
}

export function oneOf<const T extends readonly [string, ...string[]]>(
  values: T,
  fallback: T[number],
  meaning: string,
) {
  const expected = `one of ${values.join(', ')}`;
  return z
    .enum(values)
    .default(fallback as never)
    .meta({ expected, meaning });
}
