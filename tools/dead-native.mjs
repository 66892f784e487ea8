// Functions that a header of native/src declares and that nothing calls, or that no file defines: a
// name that stands in native/ nowhere but where it is declared and defined. Overloads of a name
// that is called are not seen.
import { bareCpp } from './tidy-rules.mjs';

const HEADER = /^native\/src\/.*\.h$/;
const NATIVE = /^native\/.*\.(h|cc|inc|cuh?)$/;
/** A type, then a name in lower case and its parameters. */
const DECLARED = /[\w>\]&*]\s+[&*]?([a-z]\w*)\(/g;
const STATEMENTS = /\b(return|throw|else|co_return|new|delete|case|goto)\s+[&*]?$/;
/** Called by the standard library alone. */
const CALLED_BY_LIBRARIES = new Set(['deallocate']);

function wordsOf(texts) {
  const counts = new Map();
  for (const text of texts) {
    for (const [word] of text.matchAll(/[A-Za-z_]\w*/g)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return counts;
}

/** Of each name, in how many files it is defined outside its class: what begins at the margin. */
function definitionsOf(texts) {
  const counts = new Map();
  for (const text of texts) {
    const lines = text.match(/^[^\s#].*::\w+\(.*$/gm) ?? [];
    const names = lines.flatMap((line) => [...line.matchAll(/::(\w+)\(/g)].map(([, name]) => name));
    for (const name of new Set(names)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Faults of the files, by path; `files` has the text of each. */
export function deadNative(files) {
  const native = [...files].filter(([path]) => NATIVE.test(path));
  const bare = new Map(native.map(([path, text]) => [path, bareCpp(text)]));
  const words = wordsOf(bare.values());
  const definitions = definitionsOf(bare.values());
  return [...bare].flatMap(([path, text]) => {
    if (!HEADER.test(path)) return [];
    return [...text.matchAll(DECLARED)].flatMap((match) => {
      const name = match[1];
      if (words.get(name) - (definitions.get(name) ?? 0) !== 1) return [];
      const before = text.slice(Math.max(0, match.index - 20), match.index + match[0].length);
      const isCall = STATEMENTS.test(before.slice(0, before.lastIndexOf(name)));
      if (isCall || CALLED_BY_LIBRARIES.has(name)) return [];
      const line = text.slice(0, match.index).split('\n').length;
      return [{ path, line, message: `nothing calls ${name}()` }];
    });
  });
}
