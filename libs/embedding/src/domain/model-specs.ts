import { expecting } from '@tessera/errors';

/** A model of texts that requests choose by its name. */
export interface ModelSpec {
  readonly name: string;
  /** Hugging Face or SentenceTransformers folder. */
  readonly path: string;
}

const MODELS_MAX = 16;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/;
const KEY = 'embedding.models';
const invalid = expecting('CONFIG_INVALID');

/**
 * Reads `minilm=models/minilm; big=models/big`.
 * @throws TesseraError CONFIG_INVALID
 */
export function parseModelSpecs(text: string): ModelSpec[] {
  const entries = text
    .split(';')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length > MODELS_MAX)
    throw invalid(KEY, `at most ${MODELS_MAX} models`, entries.length);
  const specs = entries.map(parseSpec);
  const names = specs.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw invalid(KEY, 'names that differ', `'${twice}' twice`);
  return specs;
}

function parseSpec(entry: string): ModelSpec {
  const equals = entry.indexOf('=');
  const name = entry.slice(0, Math.max(equals, 0)).trim();
  const path = entry.slice(equals + 1).trim();
  if (NAME.test(name) && path !== '') return { name, path };
  throw invalid(KEY, 'name=path, the name of letters, digits and . _ / -', `'${entry}'`);
}
