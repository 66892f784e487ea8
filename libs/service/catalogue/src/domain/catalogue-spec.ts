import { expecting } from '@tessera/errors';
import { type CatalogueSource, parseSource } from './catalogue-source.js';

/** A catalogue beside the first one: items and semantic IDs of its own. */
export interface CatalogueSpec {
  /** Name by which requests choose it. */
  readonly name: string;
  readonly source: CatalogueSource;
  /** File that declares its attributes; '' for none. */
  readonly attributesPath: string;
  /** File of the formulas by which its items are valued; '' for none. */
  readonly valuationsPath: string;
  /** Text that begins an answer in place of the template's; undefined: the template's. */
  readonly begin: string | undefined;
}

/** Catalogues beside the first one at most. */
const MORE_CATALOGUES_MAX = 15;
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const ATTRIBUTES = '#attributes=';
const VALUATIONS = '#valuations=';
const BEGIN = '#begin=';

const KEY = 'catalogue.more';
const invalid = expecting('CONFIG_INVALID');

/**
 * Reads `ads=ads.jsonl#domain=ad#attributes=ad.json#valuations=v.json#begin=<|ad_begin|>;
 * live=live.jsonl`.
 * @throws TesseraError CONFIG_INVALID
 */
export function parseCatalogueSpecs(text: string): CatalogueSpec[] {
  const entries = text
    .split(';')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length > MORE_CATALOGUES_MAX) {
    throw invalid(KEY, `at most ${MORE_CATALOGUES_MAX} catalogues`, entries.length);
  }
  const specs = entries.map(parseSpec);
  const names = specs.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw invalid(KEY, 'names that differ', `'${twice}' twice`);
  return specs;
}

function parseSpec(entry: string): CatalogueSpec {
  const equals = entry.indexOf('=');
  const name = entry.slice(0, Math.max(equals, 0)).trim();
  const rest = entry.slice(equals + 1).trim();
  if (!NAME.test(name) || rest === '') {
    throw invalid(KEY, 'name=path, the name of a-z, 0-9, _ and -', `'${entry}'`);
  }
  const [valued, begin] = cutAt(rest, BEGIN);
  const [described, valuationsPath = ''] = cutAt(valued, VALUATIONS);
  const [source, attributesPath = ''] = cutAt(described, ATTRIBUTES);
  return { name, source: parseSource(source), attributesPath, valuationsPath, begin };
}

function cutAt(text: string, mark: string): [string, string | undefined] {
  const at = text.lastIndexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)];
}
