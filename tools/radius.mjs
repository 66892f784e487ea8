// The radius of a field of an answer: hand-written product files that name it beside what holds it.
// A new field has four at most; older ones have a ceiling in tools/radius.json that is not to be
// raised, null where the name is a word of everything.

export const RADIUS_MAX = 4;

/** Messages that callers are answered with; what they consist of counts as well. */
const ANSWERS = ['RecallResponse', 'ScoreResponse', 'ExplainResponse'];
const CODE = /\.(ts|tsx|h|cc|inc|cu|proto)$/;
const PRODUCT = /^(apps|libs|native\/(src|ts|abi)|proto)\//;
const NOT_COUNTED = [
  /\/(generated|fixture)\/|\.spec\.ts$|_test\.cc$|_fuzz\.cc$|\/(test|fake)_\w+\./,
  /^libs\/testing\/|^apps\/console\/web\//,
];

export const isCounted = (path) =>
  PRODUCT.test(path) && CODE.test(path) && !NOT_COUNTED.some((pattern) => pattern.test(path));

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** Messages of proto files by their names: fields, with the types that they have. */
export function messagesOf(protos) {
  const messages = new Map();
  for (const text of protos) {
    for (const [, name, body] of text.matchAll(/^message (\w+) \{\n([\s\S]*?)\n\}/gm)) {
      const fields = [...body.matchAll(/^\s+(?:optional |repeated )?([\w.]+) (\w+) = \d+;/gm)];
      const typed = fields.map(([, type, field]) => ({ type: type.split('.').at(-1), field }));
      messages.set(name, [...(messages.get(name) ?? []), ...typed]);
    }
  }
  return messages;
}

/** Names in a file that deals with an answer as a whole. */
const namesOfAnswer = (message) => [
  message,
  message.replace(/Response$/, 'Answer'),
  'EngineAnswer',
  'Completion',
  'Completions',
];

/** Fields of answers as `Message.field`, with the names of what holds them. */
export function fieldsOfAnswers(messages) {
  const held = new Map(ANSWERS.map((name) => [name, new Set(namesOfAnswer(name))]));
  for (const [name] of held) {
    for (const { type, field } of messages.get(name) ?? []) {
      if (!messages.has(type)) continue;
      const holders = held.get(type) ?? new Set();
      held.set(type, holders.add(field).add(camel(field)));
    }
  }
  return [...held].flatMap(([message, holders]) =>
    (messages.get(message) ?? []).map(({ field }) => ({ message, field, holders: [...holders] })),
  );
}

/** Code without comments and the names of modules. */
const bare = (text) =>
  text
    .replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*/g, '')
    .replace(/\bfrom '[^']*'|^import '[^']*'/gm, '');

/** Files, by path, that name each field beside a holder. */
export function radii(files) {
  const counted = [...files].filter(([path]) => isCounted(path));
  const protos = counted.filter(([path]) => path.endsWith('.proto')).map(([, text]) => text);
  const texts = counted.map(([path, text]) => [path, bare(text)]);
  return fieldsOfAnswers(messagesOf(protos)).map(({ message, field, holders }) => {
    const own = new RegExp(`\\b(${camel(field)}|${field})\\b`);
    const around = new RegExp(`\\b(${holders.join('|')})\\b`);
    const found = texts.filter(([, text]) => own.test(text) && around.test(text));
    return { name: `${message}.${camel(field)}`, paths: found.map(([path]) => path) };
  });
}

/**
 * Fields that more files name than may. `ceilings`: of fields that are older than the rule; null
 * for those whose name is a word of other things as well, so that counting it says nothing.
 */
export function radiusFaults(files, ceilings) {
  return radii(files).flatMap(({ name, paths }) => {
    const max = ceilings[name] === undefined ? RADIUS_MAX : ceilings[name];
    if (max === null || paths.length <= max) return [];
    const message =
      `${name}: expected at most ${max} hand-written product files, ` +
      `got ${paths.length}: ${paths.join(', ')}`;
    return [{ path: 'proto', line: 1, message }];
  });
}
