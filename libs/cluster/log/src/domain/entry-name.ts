import { TesseraError } from '@tessera/errors';

const SEGMENT = /^(?!\.)[\w.-]+$/;
/** Maximum length of a name: that of S3 (User Guide, "Naming Amazon S3 objects") less a prefix. */
const NAME_CHARACTERS_MAX = 512;

/**
 * Refuses what is not a relative path of letters, digits and `_.-` whose parts begin with no dot.
 * @throws TesseraError REQUEST_INVALID
 */
export function checkEntryName(place: string, name: string): void {
  const isPath = name.split('/').every((segment) => SEGMENT.test(segment));
  if (isPath && name.length <= NAME_CHARACTERS_MAX) return;
  const message = `${place}: expected the relative path of an entry, got '${name}'`;
  throw new TesseraError('REQUEST_INVALID', message, { field: 'name' });
}
