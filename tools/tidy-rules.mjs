// The rules of tools/tidy as pure functions: file path and text in, faults out. A fault is
// {line, message}. tools/tidy.spec.ts shows for each rule that it can fail.
import ts from 'typescript';
import { decisionStatus } from './tidy-decisions.mjs';

export const LIMITS = {
  fileLines: 400,
  testFileLines: 800,
  functionLinesTypeScript: 60,
  functionLinesCpp: 70,
  columns: 100,
  readmeWords: 1200,
};

const isTest = (path) => /(\.spec\.ts|_test\.cc|_fuzz\.cc)$/.test(path) || path.startsWith('test/');
const isTypeScript = (path) => /\.(tsx?|mjs|cjs)$/.test(path);
const isCpp = (path) => /\.(h|cc|inc|cuh?)$/.test(path);
const isPython = (path) => path.endsWith('.py');
const isCode = (path) => isTypeScript(path) || isCpp(path) || isPython(path);
/** Where nothing sleeps. Polls and paces have a file each, which says what it is for. */
const TIMED = ['libs/testing/src/until.ts', 'test/soak/pace.ts'];
/** Readers of files of the repository, of the system, or of their own. */
const OWN_FILES = [
  'apps/console/src/http/exports.controller.ts',
  'apps/console/src/http/sql.controller.ts',
  'libs/ops/config/src/machine.ts',
  'libs/ops/config/src/repository-root.ts',
  'libs/ops/lifecycle/src/run-process.ts',
];
const isTestCode = (path) =>
  isCode(path) && (isTest(path) || path.startsWith('libs/testing/')) && !TIMED.includes(path);
const isGenerated = (path) => path.includes('/generated/');
const lineOf = (text, offset) => text.slice(0, offset).split('\n').length;

export function fileLength(path, text) {
  if (!isCode(path) || isGenerated(path)) return [];
  const count = text.split('\n').length - 1;
  const max = isTest(path) ? LIMITS.testFileLines : LIMITS.fileLines;
  return count > max ? [{ line: count, message: `file of ${count} lines, at most ${max}` }] : [];
}

export function lineLength(path, text) {
  if (!isCode(path) || isGenerated(path)) return [];
  return text.split('\n').flatMap((line, index) => {
    const columns = [...line].length;
    if (columns <= LIMITS.columns) return [];
    const message = `line of ${columns} columns, at most ${LIMITS.columns}`;
    return [{ line: index + 1, message }];
  });
}

const functionTooLong = (line, length, max) => ({
  line,
  message: `function of ${length} lines, at most ${max}`,
});

/** Callbacks of describe() and it() are files of cases, not functions. */
function isSuite(node) {
  const call = node.parent;
  if (!ts.isCallExpression(call)) return false;
  return /^(describe|it|test)\b/.test(call.expression.getText());
}

let parsed = { path: '', text: '', source: undefined };

/** Rules come to one file after the other: the last one that was parsed is kept. */
function sourceOf(path, text) {
  if (parsed.path !== path || parsed.text !== text) {
    parsed = { path, text, source: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
  }
  return parsed.source;
}

export function functionLengthTypeScript(path, text) {
  if (!isTypeScript(path) || isGenerated(path)) return [];
  const source = sourceOf(path, text);
  const max = LIMITS.functionLinesTypeScript;
  const faults = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body && !isSuite(node)) {
      const first = source.getLineAndCharacterOfPosition(node.getStart()).line;
      const last = source.getLineAndCharacterOfPosition(node.end).line;
      const length = last - first + 1;
      if (length > max) faults.push(functionTooLong(first + 1, length, max));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return faults;
}

/** `{ ...{ a, b } }` says `{ a, b }`, and keeps the formatter from laying it out. */
export function plainSpreads(path, text) {
  if (!isTypeScript(path) || isGenerated(path)) return [];
  const source = sourceOf(path, text);
  const faults = [];
  const visit = (node) => {
    const isSpread = ts.isSpreadAssignment(node) || ts.isJsxSpreadAttribute(node);
    if (isSpread && ts.isObjectLiteralExpression(node.expression)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      faults.push({ line: line + 1, message: 'an object literal is spread; write its members' });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return faults;
}

/** C++ without comments, strings and preprocessor lines; the line breaks stay. */
export function bareCpp(text) {
  const blank = (match) => match.replace(/[^\n]/g, ' ');
  return text
    .replace(/R"(\w*)\([\s\S]*?\)\1"/g, blank)
    .replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'/g, blank)
    .replace(/^[ \t]*#(?:[^\n]*\\\n)*[^\n]*/gm, blank);
}

/** True where `head`, the text before a brace, opens a scope that holds functions. */
function opensScope(head) {
  if (/\bnamespace\b[\w\s:]*$|\bextern\s*$/.test(head)) return true;
  return /\b(class|struct|union)\b[^()=]*$/.test(head);
}

export function functionLengthCpp(path, text) {
  if (!isCpp(path) || isGenerated(path)) return [];
  const bare = bareCpp(text);
  const max = LIMITS.functionLinesCpp;
  const faults = [];
  let headStart = 0;
  /** Brackets that are open: a scope, a function with its first line, or anything inside one. */
  const open = [];
  for (let at = 0; at < bare.length; at += 1) {
    const character = bare[at];
    const outside = open.every((entry) => entry.kind === 'scope');
    if (character === '{') {
      const head = bare.slice(headStart, at);
      const kind = !outside ? 'inner' : opensScope(head) ? 'scope' : 'function';
      const first = lineOf(bare, headStart + head.search(/\S|$/));
      open.push({ kind, first });
      if (kind === 'scope') headStart = at + 1;
    } else if (character === '}') {
      const closed = open.pop();
      if (closed?.kind === 'function') {
        const length = lineOf(bare, at) - closed.first + 1;
        if (length > max) faults.push(functionTooLong(closed.first, length, max));
      }
      if (closed?.kind !== 'inner') headStart = at + 1;
    } else if (character === ';' && outside) {
      headStart = at + 1;
    }
  }
  return faults;
}

/** Where a request has a task unless it names another. */
const REQUEST = 'native/src/engine/request.h';

/** Pattern, where it is banned, and what to write instead. */
const BANNED = [
  { pattern: /\bcatalogs?\b(?!['"]?:)/i, instead: 'catalogue' },
  { pattern: /\bbehaviors?\b(?!['"]?:)/i, instead: 'behaviour' },
  { pattern: /\bKV[ _-]?pages?\b|\bpage[_ ]?(pool|table)\b/i, instead: 'block' },
  { pattern: /\b(TODO|FIXME|XXX)\b/, instead: 'an issue' },
  { pattern: /\bforwardRef\b|@Global\(/, only: isTypeScript, instead: 'a third module' },
  {
    pattern: /^export \*/m,
    only: (path) => /\/index\.ts$/.test(path),
    instead: 'explicit names',
  },
  {
    pattern: /\bprocess\.env\b/,
    only: (path) => /^(apps|libs|native\/ts|bench|tools)\/.*\.ts$/.test(path) && !isTest(path),
    except: (path) => /^libs\/(ops\/config|testing)\//.test(path),
    instead: 'libs/ops/config',
  },
  {
    pattern: /\b(secure_)?getenv\b/,
    only: (path) => path.startsWith('native/src/'),
    except: (path) => /\/(test|fake)_\w+\.(cc|h)$/.test(path),
    instead: 'an option that crosses the boundary',
  },
  {
    pattern: /#include\s*<(napi|node_api|js_native_api)\.h>/,
    only: (path) => path.startsWith('native/src/'),
    except: (path) => path.startsWith('native/src/bridge/'),
    instead: 'native/src/bridge',
  },
  // Tests are compiled several as one.
  {
    pattern: /^namespace \{$/m,
    only: (path) => path.endsWith('_test.cc'),
    instead: 'a namespace of the name of the file',
  },
  // Locks that clang's analysis does not see; no file is exempt but the one that wraps them.
  {
    pattern: /\bstd::(\w+_)?mutex\b|\bstd::(lock_guard|unique_lock|scoped_lock|shared_lock)\b/,
    only: (path) => path.startsWith('native/') && isCpp(path),
    except: (path) => path === 'native/src/base/mutex.h',
    instead: 'Mutex and MutexLock of base/mutex.h',
  },
  // Of the tiers of the KV pool code names the device alone, the others are in a list.
  {
    pattern: /\bk(Host|Disk)\b|"(host|disk)"/,
    only: (path) => /^native\/src\/(kv|engine|cuda|bridge)\//.test(path) && !isTest(path),
    except: (path) => /^native\/src\/kv\/(tier\.h|(test|sim)_\w+\.h)$/.test(path),
    instead: 'the list of tiers (native/src/kv/tiers.h)',
  },
  // Timers, by other names as well. setImmediate is a turn of the event loop and waits for nothing.
  ...[
    /\bsetTimeout\(|\bsleep_(for|until)\b|\btime\.sleep\(/,
    /\bset(Timeout|Interval)\b[^;]*\bfrom '(node:)?timers(\/promises)?'/,
    /import \* as \w+ from '(node:)?timers(\/promises)?'/,
    /=(?!>) *(globalThis\.)?setTimeout;/,
  ].map((pattern) => ({
    pattern,
    only: isTestCode,
    instead: 'an event to wait for, or until() of libs/testing',
  })),
  // A FIFO or a device would hold the process, or fill its memory.
  {
    pattern: /(?<!\.)\b(readFile|readFileSync|createReadStream)\(/,
    only: (path) =>
      /^(libs|apps)\/[^/]+\/src\//.test(path) && !isTestCode(path) && !OWN_FILES.includes(path),
    instead: 'readRegular(), readRegularSync() or partsOfRegular() of libs/ops/files',
  },
  // A task that is named or compared, or a request that is looked into for the fields of its kind.
  ...[
    /\b\w+_task\(/,
    /\b[Tt]ask(\(\))?\s*[!=]=/,
    /[!=]=\s*&?\w*\b[Tt]ask\b/,
    /<const \w+Task ?[*&]>/,
  ].map((pattern) => ({
    pattern,
    only: (path) => /^native\/src\/(engine|cuda|bridge)\//.test(path) && !isTest(path),
    except: (path) => path.startsWith('native/src/engine/tasks/') || path === REQUEST,
    instead: 'a question to Task (native/src/engine/tasks/task.h)',
  })),
  {
    pattern: /'\w+' in (request|ask|own)\b|\bkind(\.code)?\s*[!=]==/,
    only: (path) => /^libs\/engine\/src\/native-engine\.ts$/.test(path),
    instead: 'a field of RequestKind (libs/engine/src/request-kinds.ts)',
  },
  { pattern: /,\s(which )?came\b(?! (back|from|in|out)\b)/, instead: 'got' },
  {
    pattern: /\b([Hh]e|[Hh]is|[Hh]im|[Hh]imself)\b/,
    // Merges of letters, of which some are words.
    except: (path) => path.endsWith('byte-level-tokenizer.ts'),
    instead: 'they, their or them',
  },
  { pattern: /\/(work|root)\/[a-z]/, instead: 'a path relative to the repository' },
];

const RULES_THEMSELVES = ['tools/tidy-rules.mjs', 'tools/tidy.spec.ts', 'STYLE.md'];

export function bannedWords(path, text) {
  if (RULES_THEMSELVES.includes(path) || isGenerated(path)) return [];
  return BANNED.flatMap(({ pattern, only, except, instead }) => {
    if ((only && !only(path)) || except?.(path)) return [];
    const all = [...text.matchAll(new RegExp(pattern, `g${pattern.flags.replace('g', '')}`))];
    return all.map((match) => ({
      line: lineOf(text, match.index),
      message: `'${match[0]}' is not used here; use ${instead}`,
    }));
  });
}

export function fileName(path) {
  // Of the tier that nodes share: `kv.shared` of the configuration.
  const said = path.replace(/shared(?=[-_](kv|stores?)\b)/, '');
  const banned = /(^|[/_.-])(common|utils?|shared|manager|helpers?|misc)([/_.-]|$)/i.exec(said);
  return banned ? [{ line: 1, message: `'${banned[2]}' says nothing about what is in it` }] : [];
}

/** The folders that each folder of native/src may include: the order of ARCHITECTURE.md. */
const INCLUDES = {
  base: [],
  platform: ['base'],
  device: ['base', 'platform'],
  tensor: ['base', 'platform', 'device'],
  ops: ['base', 'platform', 'device', 'tensor'],
  attention: ['base', 'platform', 'device', 'tensor', 'ops'],
  model: ['base', 'platform', 'device', 'tensor', 'ops', 'attention'],
  lora: ['base', 'platform', 'device', 'tensor', 'ops', 'model'],
  catalogue: ['base', 'platform'],
  beam: ['base', 'platform', 'catalogue'],
  store: ['base', 'platform'],
  kv: ['base', 'platform', 'device', 'store'],
  scheduler: ['base'],
  engine: [
    ...['base', 'platform', 'device', 'tensor', 'ops', 'attention', 'model', 'lora'],
    ...['catalogue', 'beam', 'store', 'kv', 'scheduler'],
  ],
  abi: ['base', 'beam', 'catalogue', 'engine', 'store'],
};
INCLUDES.cuda = [...INCLUDES.engine, 'engine'];
INCLUDES.bridge = Object.keys(INCLUDES).filter((folder) => folder !== 'cuda');
const FOLDERS = Object.keys(INCLUDES);
/** Includes of native/src/cuda are for itself, its benchmark and its registration. */
const SEES_CUDA = /^native\/(src\/cuda|bench\/card)\/|^native\/src\/bridge\/engine_binding\.cc$/;

export function includeLaw(path, text) {
  const [, root, name] = /^native\/(src|bench)\/(\w+)/.exec(path) ?? [];
  if (root === undefined || !isCpp(path)) return [];
  // A benchmark may see every folder but cuda, as bridge may.
  const folder = root === 'src' ? name : 'bench';
  const allowed = root === 'src' ? INCLUDES[folder] : [...INCLUDES.bridge, 'bridge'];
  if (allowed === undefined) {
    return [{ line: 1, message: `folder ${folder} is not in the order of native/src` }];
  }
  const cuda = SEES_CUDA.test(path) ? ['cuda'] : [];
  return [...text.matchAll(/^#include\s+"(\w+)\/[^"]*"/gm)].flatMap((match) => {
    const target = match[1];
    if ([folder, ...allowed, ...cuda].includes(target) || !FOLDERS.includes(target)) return [];
    return [{ line: lineOf(text, match.index), message: `${folder} may not include ${target}` }];
  });
}

/** The first page is read whole: what is longer belongs behind a link. */
export function readmeLength(path, text) {
  if (path !== 'README.md') return [];
  const count = text.split(/\s+/).filter((word) => word !== '').length;
  const max = LIMITS.readmeWords;
  return count > max ? [{ line: 1, message: `${count} words, at most ${max}` }] : [];
}

/** Files that a page names in backquotes: those with a folder and an ending. */
export function namedFiles(path, text, exists) {
  if (path !== 'ARCHITECTURE.md' && !path.startsWith('docs/internals/')) return [];
  const named = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.\w+)`/g)];
  return named.flatMap((match) =>
    exists(match[1])
      ? []
      : [{ line: lineOf(text, match.index), message: `names ${match[1]}, which is not there` }],
  );
}

const CHECKERS = [
  ...[
    'biome',
    'tsc',
    'dependency-cruiser',
    'knip',
    'tidy',
    'clang-format',
    'clang',
    'buf',
    'CMake',
    'compiler',
  ],
  ...['vitest', 'test/contract', 'test/lifecycle', 'sanitizers', 'review'],
];

/** Every rule of STYLE.md, a list item, ends with its checker: `[tidy]`. */
export function styleNamesCheckers(path, text) {
  if (path !== 'STYLE.md') return [];
  const items = [...text.matchAll(/^- (?:[^\n]|\n(?!\n|- |#))*/gm)];
  return items.flatMap((match) => {
    const named = /\[([^\]]+)\]\s*$/.exec(match[0])?.[1]?.split(', ') ?? [];
    if (named.length > 0 && named.every((name) => CHECKERS.includes(name))) return [];
    return [{ line: lineOf(text, match.index), message: 'a rule that names no checker' }];
  });
}

export const RULES = [
  fileLength,
  lineLength,
  functionLengthTypeScript,
  functionLengthCpp,
  plainSpreads,
  bannedWords,
  fileName,
  includeLaw,
  readmeLength,
  namedFiles,
  styleNamesCheckers,
  decisionStatus,
];

/** Folders that must say what they are: each of native/src and each domain lib. */
export function missingReadmes(folders, exists) {
  return folders
    .filter((folder) => !exists(`${folder}/README.md`))
    .map((folder) => ({ path: folder, line: 1, message: 'no README.md' }));
}
