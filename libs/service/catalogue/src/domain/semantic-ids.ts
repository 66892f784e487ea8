import type { GivenChange } from '@tessera/engine';
import { expecting } from '@tessera/errors';
import type { CatalogueChange, UpsertChange } from './change.js';
import type { TextEmbedder } from './text-embedder.js';

const invalid = expecting('CATALOGUE_INVALID');

/** Parts of a semantic ID: the codebooks' name, and how texts become vectors. */
export interface SemanticIds {
  /** SHA-256 of the codebooks' file. */
  readonly digest: string;
  /** Absent where the codebooks' folder does not say how a text becomes a vector. */
  readonly embedder: TextEmbedder | undefined;
}

/** A vector, or the text that one is made of, one of the two. */
export interface VectorSource {
  readonly vector?: ArrayLike<number> | undefined;
  readonly text?: string | undefined;
  /** Digest of the codebooks that are meant; '' or left out: any. */
  readonly codebooks?: string | undefined;
}

const NO_CODEBOOKS = 'none, since the catalogue has no codebooks (catalogue.codebooksPath)';

/** @throws TesseraError CATALOGUE_INVALID where other codebooks are meant, or there are none */
function checkCodebooks(ids: SemanticIds | undefined, asked: string, field: string): void {
  if (asked === '' || asked === ids?.digest) return;
  throw invalid(`${field}codebooks`, ids === undefined ? NO_CODEBOOKS : ids.digest, asked);
}

function embedderOf(ids: SemanticIds | undefined, field: string, text: string): TextEmbedder {
  if (ids?.embedder !== undefined) return ids.embedder;
  const expected =
    ids === undefined ? NO_CODEBOOKS : 'a vector, since the codebooks have no embedding of texts';
  throw invalid(`${field}text`, expected, text);
}

/**
 * The vector that a source gives.
 * @param field what stands before the names of its members in a refusal
 * @throws TesseraError CATALOGUE_INVALID
 */
export async function vectorOf(
  ids: SemanticIds | undefined,
  { vector = [], text = '', codebooks = '' }: VectorSource,
  field: string,
): Promise<Float32Array> {
  checkCodebooks(ids, codebooks, field);
  if (text === '') return Float32Array.from(vector);
  if (vector.length > 0) throw invalid(`${field}text`, 'none beside a vector', text);
  const embedder = embedderOf(ids, field, text);
  const [made = new Float32Array()] = await embedder.embed([text], () => `${field}text`);
  return made;
}

const hasSource = (change: CatalogueChange): change is UpsertChange =>
  change.op === 'upsert' &&
  Boolean(change.text || change.codebooks || (change.vector?.length ?? 0) > 0);

/** A text of a change, and where its change stands among all of the batch. */
interface PlacedText {
  readonly text: string;
  readonly place: number;
}

const fieldAt = (place: number) => `changes[${place}].`;

/** Checks where the changes have their semantic IDs from; returns the texts among them. */
function textsOf(
  ids: SemanticIds | undefined,
  changes: readonly CatalogueChange[],
): readonly PlacedText[] {
  const texts: PlacedText[] = [];
  for (const [place, change] of changes.entries()) {
    if (!hasSource(change)) continue;
    const { text = '', vector = [], codebooks = '', sid } = change;
    checkCodebooks(ids, codebooks, fieldAt(place));
    if (text === '') continue;
    if (sid.length > 0 || vector.length > 0) {
      throw invalid(`${fieldAt(place)}text`, 'none beside a sid or vector', text);
    }
    texts.push({ text, place });
  }
  return texts;
}

/**
 * The changes of a batch's messages as the engine takes them: texts have become vectors, those of
 * all messages together.
 * @throws TesseraError CATALOGUE_INVALID with the field
 */
export async function withVectors(
  ids: SemanticIds | undefined,
  messages: readonly (readonly CatalogueChange[])[],
): Promise<readonly (readonly GivenChange[])[]> {
  const texts = textsOf(ids, messages.flat());
  const made = new Map<number, Float32Array>();
  const [first] = texts;
  if (first !== undefined) {
    const embedder = embedderOf(ids, fieldAt(first.place), first.text);
    const vectors = await embedder.embed(
      texts.map(({ text }) => text),
      (number) => `${fieldAt(texts[number]?.place ?? 0)}text`,
    );
    for (const [number, { place }] of texts.entries()) {
      made.set(place, vectors[number] ?? new Float32Array());
    }
  }
  let place = 0;
  const asGivenHere = (change: CatalogueChange) => {
    const vector = made.get(place++);
    return vector === undefined ? asGiven(change) : { ...given(change as UpsertChange), vector };
  };
  return messages.map((changes) => changes.map(asGivenHere));
}

const given = ({ op, itemId, sid, title, attributes, priority }: UpsertChange) => ({
  op,
  itemId,
  sid,
  title,
  attributes,
  priority,
});

function asGiven(change: CatalogueChange): GivenChange {
  if (change.op !== 'upsert') return change;
  const { vector = [] } = change;
  return vector.length === 0
    ? given(change)
    : Object.assign(given(change), { vector: Float32Array.from(vector) });
}
