import { isBlank, TesseraError } from '@tessera/errors';
import { CHANGES_TOLD_MAX, type ToldChange } from './applied-batch.js';
import { type CatalogueChange, charactersOf, checkAttributes, checkPaces } from './change.js';

/** Changes of one message of a batch. */
export const MESSAGE_CHANGES_MAX = 65_536;
/** Changes of a batch, as the engine has it. */
const BATCH_CHANGES_MAX = 1_048_576;
/** Characters of the texts of a batch, all of which is held until it is whole. */
const BATCH_CHARACTERS_MAX = 512 << 20;

/** Changes that arrive in several messages and are applied all or none. */
export class ChangeBatch {
  private readonly given: (readonly CatalogueChange[])[] = [];
  private characters = 0;
  changeCount = 0;
  /** How many of each kind. */
  readonly ops: Record<string, number> = {};
  /** The first of them that name their item. */
  readonly told: ToldChange[] = [];

  static of(changes: readonly CatalogueChange[]): ChangeBatch {
    const batch = new ChangeBatch();
    batch.add(changes);
    return batch;
  }

  /** @throws TesseraError CATALOGUE_INVALID where the batch becomes too large */
  add(changes: readonly CatalogueChange[]): void {
    checkAttributes(changes, this.changeCount);
    checkIds(changes, this.changeCount);
    checkPaces(changes, this.changeCount);
    this.changeCount += changes.length;
    for (const change of changes) this.characters += charactersOf(change);
    check('in a message', changes.length, MESSAGE_CHANGES_MAX);
    check('in a batch', this.changeCount, BATCH_CHANGES_MAX);
    check('characters in a batch', this.characters, BATCH_CHARACTERS_MAX);
    this.given.push(changes);
    for (const { op } of changes) this.ops[op] = (this.ops[op] ?? 0) + 1;
    for (const { op, itemId } of changes) {
      if (this.told.length === CHANGES_TOLD_MAX) break;
      if (itemId !== '') this.told.push({ op, itemId });
    }
  }

  /** At least one. */
  get messages(): readonly (readonly CatalogueChange[])[] {
    return this.given.length === 0 ? [[]] : this.given;
  }
}

/** Checks IDs; an item that is there may still be removed. */
function checkIds(changes: readonly CatalogueChange[], first: number): void {
  const blank = changes.findIndex(({ op, itemId }) => op === 'upsert' && isBlank(itemId));
  if (blank < 0) return;
  const field = `changes[${first + blank}].itemId`;
  const got = JSON.stringify(changes[blank]?.itemId);
  const message = `${field}: expected an ID that is not blank, got ${got}`;
  throw new TesseraError('CATALOGUE_INVALID', message, { field });
}

function check(what: string, got: number, most: number): void {
  if (got <= most) return;
  const message = `changes: expected at most ${most} ${what}, got ${got}`;
  throw new TesseraError('CATALOGUE_INVALID', message, { field: 'changes' });
}
