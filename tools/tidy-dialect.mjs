// The dialect that tools/tidy keeps out: sentences of comments, log messages and help texts with a
// relative clause in place of a noun, and log messages that say nothing happened. Pure functions;
// tools/dialect.json has the ceiling of each folder, which may only fall.
import ts from 'typescript';

const OPENERS = 'Who|What|Whose|Whether|Whoever|None|Nobody';
const OPENS = new RegExp(`^(?:${OPENERS})\\b(?!:)`);
const OPENS_HELP = new RegExp(`^(?:${OPENERS})\\b(?=.)`, 'i');
/** Beginnings of comments that a reader has to find the noun for. */
const WITHOUT_NOUN = /^(?:Of|Those|By which|By what|Behind|From now on|The same|Beside|Among)\b/;
/** A value of a key may be `none`. */
const OPENS_QUOTED = /['"`](?:what|who|whose|whether|whoever|nobody) /i;
const SLASHED = /\.(tsx?|mjs|cjs|h|cc|inc|cuh?|proto)$/;
const TYPESCRIPT = /\.(tsx?|mjs|cjs)$/;
const LEVELS = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);
/** Files whose texts users read in tables: keys and metrics. */
const HELP = /^libs\/ops\/(?:config\/src\/schema|telemetry\/src\/.*metrics)[^/]*\.ts$/;
/** A line of a usage text: the flag or command, then what it is for. */
const USAGE = /^ {2,}(?:--?[a-z][\w-]*|[a-z][a-z-]+)(?: [A-Z][A-Z0-9_:|=/]*)* {2,}(.+)$/;
/** A text without a verb: one word, or an article and a noun. */
const IS_NOUN = /^(?:(?:an?|the) )?\S+$/i;
/** Breaches on purpose. */
const TESTS = ['tools/tidy.spec.ts'];

const SENTENCE_END = /(?<=[.;:])\s+/;
/** A relative clause in place of a subject or an object: a riddle to those who did not write it. */
const CLAUSE = new RegExp(
  '\\b(?:what|whoever) (?:is|are|was|were|has|have|had|does|do|did|can|may|' +
    'comes|came|stands|lies|goes|waits|holds|keeps|asks|reads|writes|serves|needs)\\b',
  'i',
);
const start = (sentence) => sentence.split(/\s+/, 4).join(' ');

const MESSAGE = 'begins with a relative clause; name a noun';

/** Comments of a file, whole, each with the number of its first line of text. */
function commentsOf(path, text) {
  const python = path.endsWith('.py');
  if (!python && !SLASHED.test(path)) return [];
  const lineComment = python ? /(?:^|\s)#\s+(.*)$/ : /(?:^|\s)\/\/\/?\s+(.*)$/;
  const whole = python ? /^\s*#/ : /^\s*\/\//;
  const opens = python ? /^\s*"""\s*(.*)$/ : /\/\*\*?\s*(.*)$/;
  const closes = python ? /(.*?)\s*"""/ : /(.*?)\s*\*\//;
  const comments = [];
  let block;
  text.split('\n').forEach((line, index) => {
    const opened = block === undefined ? opens.exec(line)?.[1] : undefined;
    if (opened !== undefined) {
      block = { line: index + 1, text: '' };
      comments.push(block);
    }
    if (block !== undefined) {
      const said = opened ?? line.replace(/^\s*\*?(?!\/)\s*/, '');
      const end = closes.exec(said);
      if (block.text === '') block.line = index + 1;
      block.text = `${block.text} ${end?.[1] ?? said}`.trim();
      if (end !== null) block = undefined;
      return;
    }
    const said = lineComment.exec(line)?.[1];
    if (said === undefined) return;
    const before = comments.at(-1);
    if (whole.test(line) && before?.end === index) {
      Object.assign(before, { text: `${before.text} ${said}`, end: index + 1 });
    } else {
      comments.push({ line: index + 1, text: said, end: whole.test(line) ? index + 1 : undefined });
    }
  });
  return comments;
}

/** Log messages of a file with their lines: `log.info(fields, 'message')`. */
function logsOf(path, text) {
  if (!TYPESCRIPT.test(path) || !/\blog\b/i.test(text)) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression;
      const said = node.arguments.find((argument) => ts.isStringLiteralLike(argument));
      if (LEVELS.has(name.text) && /log$/i.test(expression.getText()) && said !== undefined) {
        const { line } = source.getLineAndCharacterOfPosition(said.getStart());
        found.push({ line: line + 1, text: said.text });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function helpFaults(path, text) {
  if (!TYPESCRIPT.test(path)) return [];
  return text.split('\n').flatMap((line, index) => {
    const usage = USAGE.exec(line)?.[1] ?? '';
    const isFault = OPENS_HELP.test(usage) || (HELP.test(path) && OPENS_QUOTED.test(line));
    return isFault ? [{ line: index + 1, message: `help ${MESSAGE}` }] : [];
  });
}

/** The faults of one file. */
export function dialect(path, text) {
  if (TESTS.includes(path) || path.includes('/generated/')) return [];
  const comments = commentsOf(path, text).flatMap(({ line, text: said }) =>
    said.split(SENTENCE_END).flatMap((sentence, index) => {
      if (index === 0 && WITHOUT_NOUN.test(sentence)) {
        return [{ line, message: `'${start(sentence)}' begins a comment without its noun` }];
      }
      if (OPENS.test(sentence)) return [{ line, message: `'${start(sentence)}' ${MESSAGE}` }];
      const clause = CLAUSE.exec(sentence)?.[0];
      return clause === undefined ? [] : [{ line, message: `'${clause}' stands for a noun` }];
    }),
  );
  const logs = logsOf(path, text).flatMap(({ line, text: said }) => {
    if (OPENS_HELP.test(said)) return [{ line, message: `log '${said}' begins with a clause` }];
    return IS_NOUN.test(said) ? [{ line, message: `log '${said}' has no verb` }] : [];
  });
  return [...comments, ...logs, ...helpFaults(path, text)];
}

/** `native`, or the first two folders of a path. */
const folderOf = (path) => path.split('/', path.startsWith('native/') ? 1 : 2).join('/');

/** All texts by path: the faults of folders that have more of them than their ceiling. */
export function dialectFaults(texts, ceilings) {
  const byFolder = Map.groupBy(
    [...texts].flatMap(([path, text]) => dialect(path, text).map((fault) => ({ path, ...fault }))),
    ({ path }) => folderOf(path),
  );
  return [...byFolder].flatMap(([folder, faults]) =>
    faults.length > (ceilings[folder] ?? 0) ? faults : [],
  );
}
