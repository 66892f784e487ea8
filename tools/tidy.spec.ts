/** Each rule of tidy and of the import law is shown able to fail, and to leave good code alone. */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { deadNative } from './dead-native.mjs';
import { DECISIONS_MAX, decisionFaults, decisionStatus } from './tidy-decisions.mjs';
import { dialect, dialectFaults } from './tidy-dialect.mjs';
import { figureFaults } from './tidy-figures.mjs';
import { linkFaults, pagesApart } from './tidy-links.mjs';
import * as tidy from './tidy-rules.mjs';

const exists = (path: string) => path === 'docs/there.md' || path === 'libs/a/there.ts';
const lines = (count: number, line = 'x;') => `${line}\n`.repeat(count);
const functionOf = (count: number) => `function f() {\n${lines(count - 2)}}\n`;
const componentOf = (count: number) =>
  `function A() {\n  return (\n    <p>\n${lines(count - 6, 'x')}    </p>\n  );\n}\n`;
const cppFunctionOf = (count: number) =>
  `namespace a {\nstruct S {\n  int m = 1;\n};\nint f(int x) {\n${lines(count - 2)}}\n}\n`;

const { fileLines, testFileLines, functionLinesTypeScript, functionLinesCpp } = tidy.LIMITS;

/** Rule, path, text that is refused, text that is not. */
const cases: [tidy.Rule, string, string, string][] = [
  [tidy.fileLength, 'libs/a.ts', lines(fileLines + 1), lines(fileLines)],
  [tidy.fileLength, 'libs/a.spec.ts', lines(testFileLines + 1), lines(testFileLines)],
  [tidy.lineLength, 'libs/a.ts', 'x'.repeat(101), 'é'.repeat(100)],
  [
    tidy.functionLengthTypeScript,
    'libs/a.ts',
    functionOf(functionLinesTypeScript + 1),
    functionOf(functionLinesTypeScript),
  ],
  [
    tidy.functionLengthTypeScript,
    'libs/a.spec.ts',
    functionOf(functionLinesTypeScript + 1),
    `describe('a', () => {\n${lines(functionLinesTypeScript + 1)}});\n`,
  ],
  [
    tidy.functionLengthCpp,
    'native/src/base/a.cc',
    cppFunctionOf(functionLinesCpp + 1),
    cppFunctionOf(functionLinesCpp),
  ],
  [
    tidy.functionLengthTypeScript,
    'apps/console/web/src/a.tsx',
    componentOf(functionLinesTypeScript + 1),
    componentOf(functionLinesTypeScript),
  ],
  [
    tidy.functionLengthCpp,
    'native/src/cuda/kernels/a.cu',
    cppFunctionOf(functionLinesCpp + 1),
    cppFunctionOf(functionLinesCpp),
  ],
  [
    tidy.plainSpreads,
    'libs/a.ts',
    'const a = { ...{ b, c }, d };',
    'const a = { ...b, ...(c && { d }), ...(e ? { f } : {}) };',
  ],
  [tidy.plainSpreads, 'apps/a.tsx', 'const a = <p {...{ b }} />;', 'const a = <p {...b} />;'],
  [
    tidy.bannedWords,
    'test/trial/a.ts',
    "import { setTimeout as after } from 'node:timers/promises';",
    "import { setImmediate as turn } from 'node:timers/promises';",
  ],
  [
    tidy.bannedWords,
    'libs/testing/src/a.ts',
    "import * as timers from 'node:timers';",
    "vi.useFakeTimers({ toFake: ['setTimeout'] });",
  ],
  [tidy.bannedWords, 'libs/a.spec.ts', 'const after = setTimeout;', 'const after = done;'],
  [
    tidy.bannedWords,
    'libs/a/src/b.ts',
    "const text = readFileSync(path, 'utf8');",
    'const bytes = readRegularSync(path, BYTES_MAX);',
  ],
  [tidy.bannedWords, 'libs/a.ts', '// the catalog', '// the catalogue'],
  [tidy.bannedWords, 'libs/a.ts', '// behavior of', "const behaviour = { behavior: 'x' };"],
  [tidy.bannedWords, 'native/src/engine/a.h', '// a KV page', '// a KV block'],
  [tidy.bannedWords, 'libs/a.ts', '// TODO: later', '// to do it'],
  [tidy.bannedWords, 'libs/a.ts', "'widths: expected 1..64, came 0'", "'expected 1..64, got 0'"],
  [tidy.bannedWords, 'docs/a.md', 'a user and his history', 'a user and their history'],
  [tidy.bannedWords, 'libs/edge/grpc/src/a.ts', 'process.env.A', 'environment.A'],
  [tidy.bannedWords, 'native/src/base/a.cc', 'getenv("A");', 'get_environment("A");'],
  [
    tidy.bannedWords,
    'native/src/engine/a.cc',
    'const Task& asked = score_task();',
    'if (request.task->selects()) answer();',
  ],
  [
    tidy.bannedWords,
    'native/src/cuda/engine/a.cc',
    'dynamic_cast<const ScoreTask*>(&state.task());',
    'state.task().needs();',
  ],
  [
    tidy.bannedWords,
    'native/src/bridge/a.cc',
    'return *task != append;',
    'if (engine::task_of(code) == nullptr) return;',
  ],
  [
    tidy.bannedWords,
    'libs/engine/src/native-engine.ts',
    "return 'widths' in request ? request.widths : [];",
    'return own.widths;',
  ],
  [
    tidy.bannedWords,
    'libs/engine/src/native-engine.ts',
    'if (kind === RECALL) read();',
    'kind.read();',
  ],
  [tidy.bannedWords, 'native/src/base/a.cc', '#include <napi.h>', '#include <map>'],
  [tidy.bannedWords, 'native/src/kv/a.h', 'std::mutex mutex_;', 'Mutex mutex_;'],
  [tidy.bannedWords, 'native/src/kv/a_test.cc', '\nnamespace {\n', '\nnamespace a_test {\n'],
  [tidy.bannedWords, 'native/src/kv/a.cc', 'tiers[kHost]', 'tiers[kDevice]'],
  [
    tidy.bannedWords,
    'libs/a/src/index.ts',
    "export * from './a.js';",
    "export { a } from './a.js';",
  ],
  [tidy.bannedWords, 'apps/a.ts', 'forwardRef(() => A)', 'inject: [A]'],
  [tidy.bannedWords, 'libs/a.spec.ts', 'setTimeout(done, 5)', 'await done'],
  [tidy.bannedWords, 'libs/a.ts', "'/root/a'", "'../shared/a'"],
  [
    tidy.includeLaw,
    'native/src/beam/a.cc',
    '#include "model/decoder.h"',
    '#include "catalogue/a.h"',
  ],
  [
    tidy.includeLaw,
    'native/src/cuda/engine/a.h',
    '#include "bridge/a.h"',
    '#include "cuda/device/queue.h"\n#include "engine/parts.h"',
  ],
  [
    tidy.includeLaw,
    'native/src/bridge/addon.cc',
    '#include "cuda/engine/open_on_card.h"',
    '#include "engine/engine.h"',
  ],
  [
    tidy.includeLaw,
    'native/src/engine/engine.cc',
    '#include "cuda/engine/open_on_card.h"',
    '#include "engine/parts.h"',
  ],
  [
    tidy.includeLaw,
    'native/bench/kv_bench.cc',
    '#include "cuda/device/queue.h"',
    '#include "kv/pool.h"',
  ],
  [tidy.includeLaw, 'native/src/beam/a.h', '#include "device/device.h"', '#include "beam/a.h"'],
  [tidy.includeLaw, 'native/src/model/a.cc', '#include "beam/select.h"', '#include "ops/a.h"'],
  [tidy.includeLaw, 'native/src/engine/a.cc', '#include "bridge/a.h"', '#include "beam/a.h"'],
  [tidy.readmeLength, 'README.md', 'word '.repeat(1201), 'word '.repeat(1200)],
  [tidy.namedFiles, 'ARCHITECTURE.md', '`libs/a/gone.ts`', '`libs/a/there.ts` and `a/b`'],
  [
    decisionStatus,
    'docs/decisions/0001-a.md',
    '# 0001 A\n',
    '# 0001 A\n\nStatus: superseded by 0002\n',
  ],
  [tidy.styleNamesCheckers, 'STYLE.md', '- A rule.\n', '- A rule\n  of two lines. [tidy]\n'],
];

describe('tidy', () => {
  it.each(cases.map((row) => [row[0].name, ...row] as const))(
    '%s refuses a breach and nothing else',
    (_name, rule, path, bad, good) => {
      expect(rule(path, bad, exists)).toHaveLength(1);
      expect(rule(path, good, exists)).toEqual([]);
    },
  );

  it('refuses a file name that says nothing', () => {
    expect(tidy.fileName('libs/common/a.ts')).toHaveLength(1);
    expect(tidy.fileName('libs/a/text-utils.ts')).toHaveLength(1);
    expect(tidy.fileName('libs/service/shared-kv/src/shared.ts')).toHaveLength(1);
    expect(tidy.fileName('libs/service/shared-kv/src/index.ts')).toEqual([]);
    expect(tidy.fileName('libs/service/recall/recall.ts')).toEqual([]);
  });

  it('names the folders without a README', () => {
    const faults = tidy.missingReadmes(['a', 'b'], (path) => path === 'a/README.md');
    expect(faults.map((fault) => fault.path)).toEqual(['b']);
  });

  it('finds links to files and headings that are not there', () => {
    const links = (text: string) => {
      const texts = new Map([
        ['docs/a.md', `# A\n\n## A \`b.c\`, *d* & e\n\n## Twice\n\n## Twice\n\n${text}\n`],
        ['docs/there.md', '# There\n\n```sh\n# no heading\n```\n'],
      ]);
      return linkFaults(texts, (path) => texts.has(path) || exists(path)).length;
    };
    const bad = ['[x](gone.md)', '[x](there.md#part)', '[x](#twice-2)', '[x](there.md#no-heading)'];
    for (const text of [...bad, '<<< gone.py#recall{python}', '![x](gone.svg)'])
      expect(links(text)).toBe(1);
    const good = ['[x](there.md#there)', '[x](#a-bc-d--e)', '[x](#twice-1)', '[y](https://a.b)'];
    for (const text of [...good, '`[z](q)`', '[x](../docs/there.md)']) expect(links(text)).toBe(0);
  });

  it('finds pages of docs that no chain of links leads to', () => {
    const texts = new Map([
      ['docs/README.md', '[a](a.md)'],
      ['docs/a.md', '[b](x/b.md)'],
      ['docs/x/b.md', ''],
      ['docs/c.md', '[a](a.md)'],
    ]);
    expect(pagesApart(texts).map(({ path }) => path)).toEqual(['docs/c.md']);
  });

  it('finds figures of the README that the page of figures does not have', () => {
    const measured =
      '| recall | X | **7** | ms | 5 | `bench` |\n| start | X | 1 | s | | the same |';
    const told = (rows: string) =>
      figureFaults(
        new Map([
          ['README.md', rows],
          ['docs/measured.md', measured],
        ]),
      ).map(({ line }) => line);
    expect(told('| start | X | 1 | s | | `bench` |')).toEqual([]);
    expect(told(measured)).toEqual([]);
    expect(told('| recall | X | 6 | ms | 5 | `bench` |\n| start | X | 1 | s | | `x` |')).toEqual([
      1, 2,
    ]);
  });

  it('finds decisions that are cited and not there, not listed, or too many', () => {
    const index = ['docs/decisions/README.md', '[0001](0001-a.md)'] as const;
    const one = ['docs/decisions/0001-a.md', 'Status: accepted'] as const;
    const good = new Map([index, one, ['a.ts', '// (ADR 0001)'] as const]);
    expect(decisionFaults(good)).toEqual([]);
    const bad = new Map([...good, ['b.h', '// ADR 0001, 0002'], ['c.md', '[x](decisions/0003)']]);
    const messages = (texts: Map<string, string>) =>
      decisionFaults(texts).map(({ path, message }) => `${path}: ${message}`);
    expect(messages(bad)).toEqual(['b.h: no decision 0002', 'c.md: no decision 0003']);
    const numbers = Array.from({ length: DECISIONS_MAX + 1 }, (_, i) =>
      String(i + 1).padStart(4, '0'),
    );
    const list = numbers.map((number) => `[${number}](x)`).join('\n');
    const many = new Map([
      [index[0], list],
      ...numbers.map((number) => [`docs/decisions/${number}-a.md`, ''] as const),
    ]);
    expect(messages(many)).toEqual([`${index[0]}: ${DECISIONS_MAX + 1} decisions, at most 50`]);
    const unlisted = new Map([['docs/decisions/README.md', ''], one]);
    expect(messages(unlisted)).toEqual(['docs/decisions/README.md: decision 0001 is not listed']);
  });

  it('finds a function of a header that nothing calls, and one that nothing defines', () => {
    const header = 'class A {\n  int used() const;\n  int idle() const;\n  int gone() const;\n};\n';
    const body = 'int A::used() const { return 1; }\nint A::idle() const { return used(); }\n';
    const files = new Map([
      ['native/src/base/a.h', header],
      ['native/src/base/a.cc', body],
    ]);
    expect(deadNative(files).map(({ line }) => line)).toEqual([3, 4]);
  });

  it('counts a method in a class and not the class around it', () => {
    const method = `  int f() {\n${lines(tidy.LIMITS.functionLinesCpp)}  }\n`;
    const text = `class A final : public B {\n public:\n${method}};\n`;
    expect(tidy.functionLengthCpp('native/src/base/a.h', text)).toHaveLength(1);
    const short = `class A final : public B {\n${'  int f() { return 1; }\n'.repeat(200)}};\n`;
    expect(tidy.functionLengthCpp('native/src/base/a.h', short)).toEqual([]);
  });
});

/** File -> content; each breaks the rule of the import law that its comment names. */
const lawless: Record<string, string> = {
  'apps/one/src/index.ts': 'export const one = 1;\n',
  'apps/one/src/inner.ts': "import '@tessera/errors';\nexport const inner = 1;\n",
  // apps-import-modules-only-into-standalone
  'apps/two/src/index.ts': "import '../../one/src/index.js';\n",
  // standalone-sees-faces-of-apps
  'apps/standalone/src/main.ts': "import '../../one/src/inner.js';\n",
  'libs/ops/errors/src/index.ts': "export { code } from './code.js';\n",
  // lone-libs-import-nothing, siblings-import-files and no-circular
  'libs/ops/errors/src/code.ts':
    "import 'node:os';\nimport './index.js';\nexport const code = 1;\n",
  // edge-libs-never-import-the-domain
  'libs/edge/grpc/src/index.ts': "import '@tessera/recall';\n",
  // domain-libs-see-no-infrastructure and service-order-catalogue
  'libs/service/catalogue/src/index.ts':
    "import '@tessera/telemetry';\nimport '@tessera/prompt';\n",
  // domain-libs-see-types-of-contracts
  'libs/ops/contracts/src/index.ts': 'export const wire = 1;\n',
  // service-order-embedding
  'libs/service/embedding/src/index.ts': "import '@tessera/prompt';\n",
  // service-order-erasure
  'libs/service/erasure/src/index.ts': "import '@tessera/prompt';\nimport '@tessera/contracts';\n",
  // service-order-shared-kv
  'libs/service/shared-kv/src/index.ts': "import '@tessera/behaviour';\n",
  // service-order-adapter
  'libs/service/adapter/src/index.ts': "import '@tessera/behaviour';\n",
  // district-order-cluster
  'libs/cluster/routing/src/index.ts': "import '@tessera/inspection';\n",
  // service-order-prompt
  'libs/service/prompt/src/index.ts': "import '@tessera/behaviour';\n",
  // service-order-relevance
  'libs/service/relevance/src/index.ts': "import '@tessera/catalogue';\n",
  // service-order-behaviour
  'libs/service/behaviour/src/index.ts': "import '@tessera/catalogue';\n",
  // domain-is-pure, only-engine-imports-native, district-order-service
  'libs/service/recall/src/domain/tasks/recall.ts':
    "import 'node:fs';\nimport '@tessera/native';\nimport '@tessera/inspection';\n",
  // district-order-insight
  'libs/insight/inspection/src/index.ts': "import '@tessera/client';\n",
  // district-order-engine
  'libs/engine/src/index.ts': "import '@tessera/recall';\n",
  // libs-never-import-apps-or-tools, only-through-the-face, testing-is-for-tests
  'libs/service/recall/src/index.ts':
    "import '../../../../apps/one/src/index.js';\nimport '../../../ops/errors/src/code.js';\n" +
    "import '@tessera/testing';\nimport './domain/tasks/recall.js';\n",
  // pages-see-types-alone
  'apps/console/src/index.ts': "import '@tessera/errors';\n",
  'apps/console/web/src/page.ts': "import '../../src/index.js';\n",
  // no-dev-dependencies-in-what-serves, district-order-ops
  'libs/ops/telemetry/src/index.ts': "import 'fast-check';\nimport '@tessera/recall';\n",
  // only-kafka-imports-kafkajs
  'libs/edge/client/src/index.ts': "import 'kafkajs';\n",
  // examples-can-be-copied
  'examples/one.ts': "import '../apps/one/src/index.js';\n",
  // not-unresolvable
  'libs/ops/lifecycle/src/index.ts': "import './gone.js';\n",
  // no-orphans
  'libs/ops/config/src/orphan.ts': 'export const orphan = 1;\n',
  'libs/testing/src/index.ts': "import '@tessera/errors';\n",
  'native/ts/index.ts': "import '@tessera/errors';\n",
};

describe('the import law', () => {
  const root = mkdtempSync(join(os.tmpdir(), 'tessera-law-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('finds every kind of breach', () => {
    for (const [path, content] of Object.entries(lawless)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
    for (const file of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json']) {
      cpSync(file, join(root, file));
    }
    symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
    const command = resolve('node_modules/.bin/depcruise');
    const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json'];
    const { stdout } = spawnSync(command, [...args, 'apps', 'examples', 'libs', 'native'], {
      cwd: root,
      encoding: 'utf8',
    });
    const { violations } = JSON.parse(stdout).summary as {
      violations: { rule: { name: string } }[];
    };
    const found = [...new Set(violations.map((violation) => violation.rule.name))].sort();
    const law = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as {
      forbidden: { name: string }[];
    };
    const rules = law.forbidden.map((rule) => rule.name);
    expect(found).toEqual(rules.sort());
  });
});

describe('the dialect', () => {
  it.each([
    ['libs/a/a.ts', '/** What a node keeps. */', '/** Data of a node. */'],
    ['libs/a/a.ts', '/**\n * Whether it is\n * so.\n */', '/**\n * True if\n * so.\n */'],
    ['libs/a/a.ts', '/** Of a read. */', '/** Duration of a read. Of all reads the last. */'],
    ['native/src/a.h', '/// From now on it waits.', '/// Makes it wait from now on.'],
    ['libs/a/a.ts', 'f(); // Nobody waits.', 'f(); // A node waits.\n// x\n// It waits.'],
    ['native/src/a.cu', '// Who goes on with it.', '// A request goes on with it.'],
    ['proto/a.proto', '  // None where it is unknown.', '  // Empty where it is unknown.'],
    ['trainer/a.py', '    """What a user did."""', '    """Behaviours of a user."""'],
    ['trainer/a.py', 'x = 1  # Whose it is.', 'x = 1  # Its owner.'],
    ['libs/a/a.ts', '/** A key. Who has it waits. */', '/** A key. Its holder waits. */'],
    ['libs/a/a.ts', '// Reads\n// what was put.', '// Reads\n// the value.'],
    ['native/src/a.h', '/// It keeps what is new.', '/// It keeps the new one.'],
    ['apps/a/a.ts', "log.info({}, 'drain');", "log.info({}, 'drain step finished');"],
    ['apps/a/a.ts', "this.log.warn({}, 'a relevance');", "nodeLog.warn({}, 'node is up');"],
    ['apps/a/a.ts', "log.error({}, 'what failed');", "nolog2.error({}, 'drain');"],
    ['tools/a.ts', '  --seed N   what is drawn', '  --seed N   seed of the draws'],
    ['libs/ops/config/src/schema-a.ts', "text('', 'who may')", "oneOf(['none', 'all'])"],
  ])('is refused in %s: %s', (path, bad, good) => {
    expect(dialect(path, `${bad}\n`)).toHaveLength(1);
    expect(dialect(path, `${good}\n`)).toEqual([]);
  });

  it('is bounded by the ceiling of a folder, without which there is none', () => {
    const texts = new Map([
      ['native/src/a/b.h', '// What a.\n'],
      ['native/bench/b.h', '// What b.\n'],
      ['libs/a/b.ts', '// What c.\n'],
    ]);
    const paths = (ceilings: Record<string, number>) =>
      dialectFaults(texts, ceilings).map(({ path }) => path);
    expect(paths({ native: 2 })).toEqual(['libs/a/b.ts']);
    expect(paths({ native: 1, 'libs/a': 1 })).toEqual(['native/src/a/b.h', 'native/bench/b.h']);
  });
});
