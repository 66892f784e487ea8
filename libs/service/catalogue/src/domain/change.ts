/** Changes of a catalogue while it serves; docs/concepts/live-catalogue.md gives the rules. */

import type { Clause, Pace } from '@tessera/engine';
import { expecting, jsonFault } from '@tessera/errors';

const invalid = expecting('CATALOGUE_INVALID');

/** Items of a change: one, or every one that a predicate lets pass when its turn comes. */
export interface ChangedItems {
  /** '' where there is a predicate. */
  readonly itemId: string;
  readonly predicate?: Clause;
}

/** Edits of attributes; each attribute is named once at most. */
export interface AttributePatch {
  /** Text of a JSON object: members that are put in, or replaced; '' for none. */
  readonly set: string;
  readonly unset: readonly string[];
  /** To and from sets. */
  readonly add: readonly PatchTexts[];
  readonly take: readonly PatchTexts[];
  /** Added to numbers; one that is not there counts as 0. */
  readonly delta: readonly { readonly attribute: string; readonly delta: number }[];
}

export interface PatchTexts {
  readonly attribute: string;
  readonly texts: readonly string[];
}

/** An item as a whole: with its semantic ID, or with a vector or a text that gives it one. */
export interface UpsertChange {
  readonly op: 'upsert';
  readonly itemId: string;
  /** Empty beside a vector or text. */
  readonly sid: readonly number[];
  readonly title: string;
  /** Text of a JSON object; '' for none. */
  readonly attributes: string;
  readonly priority: number;
  readonly vector?: readonly number[] | undefined;
  readonly text?: string | undefined;
  /** Digest of the codebooks that are meant; '' or left out: any. */
  readonly codebooks?: string | undefined;
}

export type CatalogueChange =
  | UpsertChange
  | ({ readonly op: 'pause' | 'resume' | 'remove' } & ChangedItems)
  | ({ readonly op: 'patch_attributes'; readonly patch: AttributePatch } & ChangedItems)
  | { readonly op: 'set_attributes'; readonly itemId: string; readonly attributes: string }
  | { readonly op: 'set_priority'; readonly itemId: string; readonly priority: number }
  | { readonly op: 'set_pace'; readonly itemId: ''; readonly pace: Pace };

/**
 * The engine reads the attributes by descending into them, and keeps one of two with a name.
 * @param first place of the first of the changes in their batch
 * @throws TesseraError CATALOGUE_INVALID for attributes that nest too deep or are there twice
 */
export function checkAttributes(changes: readonly CatalogueChange[], first: number): void {
  for (const [index, change] of changes.entries()) {
    const fault = jsonFault(objectOf(change));
    if (fault === undefined) continue;
    const member = change.op === 'patch_attributes' ? 'set' : 'attributes';
    const path = [`changes[${first + index}]`, member, ...(fault.key === '' ? [] : [fault.key])];
    throw invalid(path.join('.'), fault.expected, fault.got);
  }
}

export const PACE_EXPECTED = 'a factor above 0 and at most 1';

/** @throws TesseraError CATALOGUE_INVALID for a pace without attribute or text, or out of range */
export function checkPaces(changes: readonly CatalogueChange[], first: number): void {
  for (const [index, change] of changes.entries()) {
    if (change.op !== 'set_pace') continue;
    const { attribute, text, factor } = change.pace;
    const at = `changes[${first + index}]`;
    if (attribute === '') throw invalid(`${at}.attribute`, 'the name of an attribute', 'none');
    if (text === '') throw invalid(`${at}.text`, 'a text of the attribute', 'none');
    if (!(factor > 0 && factor <= 1)) throw invalid(`${at}.factor`, PACE_EXPECTED, String(factor));
  }
}

/** The JSON object that it brings. */
function objectOf(change: CatalogueChange): string {
  if (change.op === 'patch_attributes') return change.patch.set;
  return 'attributes' in change ? change.attributes : '';
}

/** Characters of its texts. */
export function charactersOf(change: CatalogueChange): number {
  const title = change.op === 'upsert' ? upsertCharacters(change) : 0;
  const predicate =
    'predicate' in change && change.predicate ? clauseCharacters(change.predicate) : 0;
  const texts = 'patch' in change ? textsOf(change.patch) : paceTexts(change);
  const patched = texts.reduce((sum, text) => sum + text.length, 0);
  return change.itemId.length + title + objectOf(change).length + predicate + patched;
}

const paceTexts = (change: CatalogueChange) =>
  change.op === 'set_pace' ? [change.pace.attribute, change.pace.text] : [];

/** A number of a vector takes as much as two characters. */
function upsertCharacters({ title, text = '', vector = [] }: UpsertChange): number {
  return title.length + text.length + 2 * vector.length;
}

function clauseCharacters({ attribute, values, clauses }: Clause): number {
  const own = values.reduce((sum, value) => sum + value.length, attribute.length);
  return clauses.reduce((sum, below) => sum + clauseCharacters(below), own);
}

function textsOf({ unset, add, take, delta }: AttributePatch): readonly string[] {
  const ofSets = [...add, ...take].flatMap(({ attribute, texts }) => [attribute, ...texts]);
  return [...unset, ...ofSets, ...delta.map(({ attribute }) => attribute)];
}
