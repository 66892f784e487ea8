/** Keys of the configuration: type, bounds, default and meaning. */

import { z } from 'zod';

export interface LeafMeta {
  readonly expected: string;
  readonly meaning: string;
  /** The text in docs where the default depends on the machine or another key. */
  readonly defaultText?: string;
  /** Name of a store's folder in the folder of all data. */
  readonly storeName?: string;
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

/** The model that is served where none is named, from the repository. */
export const DEMO_MODEL = 'models/demo';

const DATA_FOLDER = 'data';

/** Folder of a store that no key names: the demo's apart, since they belong to its catalogue. */
export function defaultFolder(name: string, servesDemo: boolean): string {
  return servesDemo ? `${DATA_FOLDER}/demo/${name}` : `${DATA_FOLDER}/${name}`;
}

interface FolderLimits {
  /** An empty text means: no such store. */
  readonly canBeEmpty: boolean;
}

/** A folder of a store; its default depends on model.path (load-config.ts puts it in its place). */
export function storeFolder(name: string, meaning: string, { canBeEmpty }: FolderLimits) {
  const expected = canBeEmpty ? 'text' : 'text that is not empty';
  const defaultText = `${defaultFolder(name, false)}; demo: ${defaultFolder(name, true)}`;
  return z
    .string()
    .min(canBeEmpty ? 0 : 1)
    .max(4096)
    .default(defaultFolder(name, false))
    .meta({ expected, meaning, defaultText, storeName: name });
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
