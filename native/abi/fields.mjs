// The kinds of field that a description has. Each is a function of the field's comment and, where
// the C++ side is not the member of the same name, of the C++ expression: of `from` where the value
// leaves the engine, of `to` where it comes in.

const kind =
  (name, more = {}) =>
  (doc = '', cpp = undefined) => ({ kind: name, doc, cpp, ...more });

export const text = kind('text');
export const flag = kind('flag');
/** Integers in 0..2^32-1, 0..2^53-1. */
export const u32 = kind('u32');
export const u53 = kind('u53');
export const f32 = kind('f32');
export const f64 = kind('f64');
/** Typed arrays; `codes` is a list of numbers, `paths` a list of them. */
export const bytes = kind('bytes');
export const u32s = kind('u32s');
export const i32s = kind('i32s');
export const f32s = kind('f32s');
export const f64s = kind('f64s');
export const codes = kind('codes');
export const paths = kind('paths');
export const texts = kind('texts');
/** Byte strings, of packed records; `blobs` on their way in, `entries` (keys with values) out. */
export const blob = kind('blob');
export const blobs = kind('blobs');
export const entries = kind('entries');

/** One of the words; in C++ an enumeration, or a bool, in their order. */
export const choice = (words, doc, cpp) => kind('choice', { words })(doc, cpp);
/** A record in the record; `list`: any number of them; `each`: the same of columns, `i` the row. */
export const one = (record, doc, cpp) => kind('one', { record })(doc, cpp);
export const list = (record, doc, cpp) => kind('list', { record })(doc, cpp);
export const each = (record, count, doc) => kind('each', { record, count })(doc);
/** A field that may be left out; of packed records on their way in. */
export const optional = (of, doc) =>
  kind('optional', { of, record: of.record, words: of.words })(doc);
/** Any number of records of integers, end to end in one Uint32Array. */
export const rows = (record, doc, cpp) => kind('rows', { record })(doc, cpp);
/** An opaque handle. */
export const handle = (type, doc, cpp) => kind('handle', { type })(doc, cpp);

/**
 * Words with a constant of their own. `cpp` is an enumeration that has them in this order, as
 * `enumerators`, which are the words in its spelling where they are left out: `not-live` is
 * kNotLive. A static_assert compares them.
 */
export const words = (name, constant, list, { doc = '', cpp, enumerators } = {}) => {
  const spelt = (word) => word.replace(/(?:^|-)(.)/g, (_, first) => first.toUpperCase());
  const all = enumerators ?? list.map((word) => `k${spelt(word)}`);
  return { name, constant, list, doc, cpp, enumerators: all };
};

/** A record; `cpp` is the C++ type, made by the generator where there is none. */
export const record = (name, cpp, doc, fields) => ({ name, cpp, doc, fields });

/** Numbers with names: `cpp` are the C++ constants, which a static_assert compares. */
export const numbers = (constant, doc, values) => ({ constant, doc, values });
export const number = (value, cpp) => ({ value, cpp });
