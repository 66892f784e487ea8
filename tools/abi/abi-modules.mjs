// All files that are written from native/abi, by path.
import { createHash } from 'node:crypto';
import catalogue from '../../native/abi/catalogue.mjs';
import completion, { ANSWERS } from '../../native/abi/completion.mjs';
import embedding from '../../native/abi/embedding.mjs';
import engine from '../../native/abi/engine.mjs';
import kv from '../../native/abi/kv.mjs';
import reach from '../../native/abi/reach.mjs';
import request, { REQUESTS } from '../../native/abi/request.mjs';
import store from '../../native/abi/store.mjs';
import { closure, listOf, namedWords } from './names.mjs';
import { objectModules } from './write-objects.mjs';
import { packedCpp, packedTypeScript } from './write-packed.mjs';
import { typesModule } from './write-types.mjs';

const PARTS = [engine, embedding, kv, catalogue, reach, store, request, completion];
const DIGEST_DIGITS = 16;

const every = (member) => PARTS.flatMap((part) => part[member] ?? []);
const fieldsOf = (records) => records.flatMap(({ fields }) => Object.values(fields));

const hasFields = ({ fields }) => Object.keys(fields).length > 0;

/** Digest that both sides must agree on: names and kinds in their order, no comments. */
function digestOf(records, words, numbers) {
  const fieldOf = ([name, { kind, of, record, words: choice }]) =>
    [name, kind, of?.kind, record?.name, choice && listOf(choice)].filter(
      (part) => part !== undefined,
    );
  const shapes = records.map(({ name, fields }) => [name, Object.entries(fields).map(fieldOf)]);
  const said = [shapes, words.map(({ list }) => list), numbers.map(({ values }) => values)];
  const kinds = [REQUESTS, ANSWERS].map((list) => list.map(({ name }) => name));
  const text = JSON.stringify([...said, ...kinds]);
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_DIGITS);
}

/** Lines by path. */
export function abiModules() {
  const [read, written] = [every('read'), every('written')];
  const [packedIn, packedOut] = [closure(every('packedIn')), closure(every('packedOut'))];
  const inRows = new Set(fieldsOf(packedOut).flatMap((f) => (f.kind === 'rows' ? [f.record] : [])));
  const inColumns = new Set(
    fieldsOf(packedOut).flatMap((f) => (f.kind === 'each' ? [f.record] : [])),
  );
  const records = closure([...read, ...written, ...packedIn, ...packedOut]);
  const words = namedWords(records, every('words'));
  const digest = digestOf(records, words, every('numbers'));
  const handles = [...new Set(fieldsOf(records).flatMap(({ type }) => type ?? []))];
  const packed = {
    packedIn,
    packedOut: packedOut.filter((record) => !inRows.has(record)),
    requests: REQUESTS,
    answers: ANSWERS,
    words: namedWords([...packedIn, ...packedOut]),
  };
  return {
    'native/ts/generated/types.ts': typesModule({
      digest,
      records: records.filter((record) => !inRows.has(record) && hasFields(record)),
      words,
      rows: [...inRows],
      numbers: every('numbers'),
      handles,
    }),
    ...objectModules({
      digest,
      read,
      written,
      words: namedWords([...read, ...written]),
      numbers: every('numbers'),
    }),
    ...packedCpp({
      ...packed,
      packedOut: packed.packedOut.filter((record) => !inColumns.has(record)),
    }),
    ...packedTypeScript({
      ...packed,
      inWords: namedWords(packedIn),
      outWords: namedWords(packed.packedOut),
    }),
  };
}
