/** Pages and headers that mirror a table of the code say the same, row for row. */

import { globSync, readFileSync } from 'node:fs';
import { CONFIG_KEYS, CONFIG_LIMITS } from '@tessera/config';
import { ERROR_TABLE, GRPC_STATUS, NATIVE_ERRORS, SERVICE_ERRORS } from '@tessera/errors';
import { topicNames } from '@tessera/kafka';
import { ROW_BUDGET_MAX } from '@tessera/recall';
import { METRICS } from '@tessera/telemetry';
import { describe, expect, it } from 'vitest';

const read = (path: string) => readFileSync(path, 'utf8');

/** Rows of all tables of a page, cells trimmed and without backquotes. */
function rowsOf(page: string): string[][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

describe('the table of errors', () => {
  const header = read('native/src/base/status.h');

  it('has the codes of status.h, in its order and under its names', () => {
    const body = /enum class Code[^{]*\{([^}]*)\}/.exec(header)?.[1] ?? '';
    const enumerators = [...body.matchAll(/\bk(\w+)/g)].map((match) => match[1] ?? '');
    const names = enumerators.map((name) => name.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase());
    expect(names).toEqual(['OK', ...Object.keys(NATIVE_ERRORS)]);
    const spelled = [...header.matchAll(/case Code::k\w+:\s*return "(\w+)"/g)].map(
      (match) => match[1],
    );
    expect(spelled).toEqual(names);
  });

  it('is the table of docs/operate/errors.md', () => {
    const nameOf = new Map(Object.entries(GRPC_STATUS).map(([name, number]) => [number, name]));
    const expected = Object.entries(ERROR_TABLE).map(([code, row]) => [
      code,
      `${row.grpc} ${nameOf.get(row.grpc)}`,
      String(row.http),
      row.retryable ? 'yes' : 'no',
      row.meaning,
    ]);
    expect(rowsOf(read('docs/operate/errors.md'))).toEqual(expected);
  });

  it('names no code twice', () => {
    const both = Object.keys(SERVICE_ERRORS).filter((code) => Object.hasOwn(NATIVE_ERRORS, code));
    expect(both).toEqual([]);
  });
});

describe('keys of the configuration', () => {
  const areas = new Set(CONFIG_KEYS.map(({ path }) => path.split('.')[0]));
  /** Topics have names of the same form. */
  const topics = Object.values(topicNames());
  const known = new Set([...topics, ...CONFIG_KEYS.map(({ path }) => path)]);
  const pages = [
    'README.md',
    ...globSync('docs/**/*.md').filter((page) => !page.includes('node_modules')),
  ];
  const FILES = /\.(json|jsonl|safetensors)$/;

  it.each(pages)('that %s names are there', (page) => {
    const named = [...read(page).matchAll(/`([a-z]+)(\.[a-zA-Z]+)`/g)]
      .filter(([, area = '']) => areas.has(area))
      .map(([, area, name]) => `${area}${name}`);
    expect(named.filter((key) => !known.has(key) && !FILES.test(key))).toEqual([]);
  });
});

describe('limits of the configuration', () => {
  /** A constant of a header, `1u << 20` or `4096`. */
  function nativeLimit(path: string, name: string): number {
    const value = new RegExp(`\\b${name} = (\\d+)(?:u << (\\d+))?;`).exec(read(path));
    return Number(value?.[1]) * 2 ** Number(value?.[2] ?? 0);
  }

  it.each([
    ['levelsMax', 'native/src/catalogue/format.h', 'kMaxDepth'],
    ['levelSizeMax', 'native/src/catalogue/format.h', 'kMaxLevelSize'],
    ['versionsBackMax', 'native/src/kv/options.h', 'kVersionsBackMax'],
    ['widthMax', 'native/src/engine/limits.h', 'kWidthMax'],
  ] as const)('%s is what the engine takes', (name, path, constant) => {
    expect(CONFIG_LIMITS[name]).toBe(nativeLimit(path, constant));
  });

  it('has the budget of rows that a request may ask for', () => {
    expect(ROW_BUDGET_MAX).toBe(CONFIG_LIMITS.rowBudgetMax);
  });

  it('are what docs/operate/configuration.md says', () => {
    const bounds = new Map(CONFIG_KEYS.map(({ path, expected }) => [path, expected]));
    for (const name of ['widthMax', 'batchRequestsMax', 'resultCountMax', 'promptTokensMax']) {
      const limit = CONFIG_LIMITS[name as 'widthMax'];
      expect(bounds.get(`engine.${name}`)).toBe(`integer 1..${limit}`);
    }
  });
});

describe('the pages', () => {
  it('docs/operate/configuration.md lists every key with its variable, bounds and default', () => {
    const operators = CONFIG_KEYS.filter(({ isAdvanced }) => !isAdvanced);
    const advanced = CONFIG_KEYS.filter(({ isAdvanced }) => isAdvanced);
    const expected = [...operators, ...advanced].map((key) => [
      key.path,
      key.variable,
      key.expected,
      key.defaultText === '' ? 'empty' : key.defaultText,
      key.meaning,
    ]);
    expect(rowsOf(read('docs/operate/configuration.md'))).toEqual(expected);
  });

  it('docs/operate/metrics.md lists every metric', () => {
    const expected = Object.values(METRICS).map(({ name, meaning }) => [name, meaning]);
    expect(rowsOf(read('docs/operate/metrics.md'))).toEqual(expected);
  });
});
