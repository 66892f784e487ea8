import type { EngineAdapter } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';

/** The model alone, by name. */
const BASE = 'base';
const SHOWN_CHARACTERS = 80;

/** An adapter by the name that calls have for it. */
export type NamedAdapters = ReadonlyMap<string, EngineAdapter>;

export const NO_ADAPTERS: NamedAdapters = new Map();

/**
 * Undefined: the model alone.
 * @throws TesseraError ADAPTER_NOT_FOUND naming `field`
 */
export function adapterOf(
  adapters: NamedAdapters,
  name: string,
  field: string,
): EngineAdapter | undefined {
  if (name === '' || name === BASE) return undefined;
  const found = adapters.get(name);
  if (found !== undefined) return found;
  const names = [...adapters.keys(), BASE].join(', ');
  const message = `${field}: expected one of ${names}, got '${name.slice(0, SHOWN_CHARACTERS)}'`;
  throw new TesseraError('ADAPTER_NOT_FOUND', message, { field });
}
