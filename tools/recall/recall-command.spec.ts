import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@tessera/testing';
import { describe, expect, it } from 'vitest';
import { Flags } from '../terminal/command.js';
import { checkRankFlags } from './ranking-flags.js';
import { rawAnswers } from './raw-recall.js';
import { RECALL_FLAGS } from './recall-flags.js';

const PARITY = 'test/fixtures/parity';
const PARITY_FOLDERS = readdirSync(PARITY, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);
const SCORE_TOLERANCE = 1e-3;
const run = promisify(execFile);

interface Case {
  readonly promptTokens: number[];
  readonly widths: number[];
  readonly terminalTokens: number[];
  readonly levelTokenBase: number[];
  readonly scoreNorm: string;
  readonly expected: { sid: number[]; score: number }[];
}

interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command as `npm run recall --` does. */
async function recall(...words: string[]): Promise<Outcome> {
  try {
    const { stdout, stderr } = await run('node', ['dist/tools/recall.js', ...words]);
    return { status: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as Outcome & { code: number };
    return { status: code, stdout, stderr };
  }
}

function rawWords(folder: string, given: Case): string[] {
  const terminal = given.terminalTokens.join(',');
  return [
    ...['--model', join(PARITY, folder), '--catalogue', join(PARITY, folder, 'catalogue.jsonl')],
    ...['--level-token-base', given.levelTokenBase.join(','), '--widths', given.widths.join(',')],
    ...(terminal === '' ? [] : ['--terminal-tokens', terminal]),
    ...[
      '--results',
      String(given.expected.length),
      '--score',
      given.scoreNorm,
      '--dtype',
      'f32',
      '--threads',
      '1',
      '--json',
    ],
  ];
}

describe('npm run recall in raw mode', () => {
  it.each(PARITY_FOLDERS)('gives the recorded paths of %s', async (folder) => {
    const cases = JSON.parse(readFileSync(join(PARITY, folder, 'cases.json'), 'utf8')) as Case[];
    for (const given of cases) {
      const words = [...rawWords(folder, given), '--prompt-tokens', given.promptTokens.join(',')];
      const { answers } = await rawAnswers(Flags.parse(words, RECALL_FLAGS));
      const [paths = []] = answers;
      const { expected } = given;
      expect(paths.map((path) => path.sid)).toEqual(expected.map((path) => path.sid));
      paths.forEach((path, index) => {
        const apart = Math.abs(path.score - (expected[index]?.score ?? Number.NaN));
        expect(apart).toBeLessThan(SCORE_TOLERANCE);
        expect(path.items.length).toBeGreaterThan(0);
      });
    }
  });

  it('answers a file of prompts with one array for each, in their order', async () => {
    const cases = JSON.parse(readFileSync(join(PARITY, 'qwen3-tied/cases.json'), 'utf8')) as Case[];
    const [first] = cases as [Case, ...Case[]];
    const prompts = cases.map((given) => given.promptTokens);
    // More than the engine takes at once.
    const times = Math.ceil(40 / prompts.length);
    const folder = temporaryFolder({ 'prompts.json': Array(times).fill(prompts).flat() });
    const words = rawWords('qwen3-tied', first);
    const alone = await recall(...words, '--prompt-tokens', first.promptTokens.join(','));
    const batch = await recall(...words, '--prompts', join(folder.path, 'prompts.json'));
    folder.remove();
    const answers = JSON.parse(batch.stdout) as unknown[];
    expect(answers).toHaveLength(times * prompts.length);
    expect(answers[0]).toEqual(JSON.parse(alone.stdout));
    expect(answers.slice(-prompts.length)).toEqual(answers.slice(0, prompts.length));
  });
});

describe('a certified raw recall', () => {
  const [given] = JSON.parse(readFileSync(join(PARITY, 'qwen3-tied/cases.json'), 'utf8')) as [Case];
  const beam = rawWords('qwen3-tied', given);
  const at = beam.indexOf('--widths');
  const words = [...beam.slice(0, at), ...beam.slice(at + 2), '--search', 'certified'];
  const prompt = ['--prompt-tokens', given.promptTokens.join(',')];
  const answersOf = (...more: string[]) =>
    rawAnswers(Flags.parse([...more, ...prompt], RECALL_FLAGS));

  it('has the paths of a beam that sees every one, with their items', async () => {
    const wide = [...beam.slice(0, at + 1), '4096', ...beam.slice(at + 2)];
    const [all, certified] = [await answersOf(...wide), await answersOf(...words)];
    expect(certified.answers).toEqual(all.answers);
    expect(certified.reports).toMatchObject([{ certified: true, gap: null }]);
    expect(all.reports).toMatchObject([{ certified: true, gap: null }]);
  });

  it('says by how much an item may be better where the rows are spent', async () => {
    const folder = temporaryFolder({ 'prompts.json': [given.promptTokens, given.promptTokens] });
    const path = join(folder.path, 'report.jsonl');
    const more = ['--prompts', join(folder.path, 'prompts.json'), '--report', path];
    const { status } = await recall(...words, '--row-budget', '1', ...more);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    folder.remove();
    expect(status).toBe(0);
    const reports = lines.map((line) => JSON.parse(line) as { gap: number });
    expect(reports).toMatchObject([{ certified: false }, { certified: false }]);
    expect(Object.keys(reports[0] ?? {})).toEqual(['certified', 'rows', 'passes', 'gap']);
    expect(reports[0]?.gap).toBeLessThan(0);
  });
});

describe('npm run recall', () => {
  const raw = ['--model', 'm', '--catalogue', 'c', '--level-token-base', '0'];
  it.each<[string[], string]>([
    [['--histroy', '1'], "Unknown option '--histroy'"],
    [[], '--history: expected exactly one of --history and --user'],
    [['--history', '1', '--user', '1'], '--history: expected exactly one'],
    [['--history', '1', '--results', '0'], '--results: expected an integer in 1..65536, got 0'],
    [['--history', '1', '--results', '1e9'], '--results: expected an integer'],
    [['--history', '1', '--widths', '5,-1'], '--widths: expected an integer in 1..4096, got -1'],
    [['--history', '1', '--search', 'best'], '--search: expected certified, beam, got best'],
    [
      ['--history', '1', '--search', 'certified', '--widths', '5'],
      '--widths: expected none with --search certified, got 5',
    ],
    [
      ['--history', '1', '--widths', '5', '--row-budget', '9'],
      '--row-budget: expected none with a beam, got 9',
    ],
    [
      ['--history', '1', '--row-budget', '0'],
      '--row-budget: expected an integer in 1..65536, got 0',
    ],
    [['--history', '1', '--scene', 'x'], '--scene: expected key=value, got x'],
    [['--history', '1', '--dtype', 'f16'], '--dtype: expected f32, bf16, w8a8, got f16'],
    [[...raw, '--prompt-tokens', '5,,2'], '--prompt-tokens: expected an integer'],
    [[...raw, '--prompts', 'none.json'], '--prompts: expected a JSON file'],
    [['--model', 'm', '--prompt-tokens', '1'], '--level-token-base: expected a base per level'],
  ])('%j is refused with the reason first and exit 2', async (words, message) => {
    const { status, stdout, stderr } = await recall(...words);
    expect(stderr.startsWith(message)).toBe(true);
    expect(stderr).toContain('usage: npm run recall');
    expect(stdout).toBe('');
    expect(status).toBe(2);
  });

  it('refuses flags of a ranking that it does not do', () => {
    const flags = Flags.parse(['--user', '1', '--rank-valuation', 'expected'], RECALL_FLAGS);
    expect(() => checkRankFlags(flags)).toThrow('--rank-valuation: expected none without --rank');
  });

  it('tells a missing model by its code, with exit 1', async () => {
    const { status, stderr } = await recall('--history', '1', '--model', 'none');
    expect(stderr).toMatch(/^MODEL_NOT_FOUND \(model\.path\): /);
    expect(status).toBe(1);
  });

  it.skipIf(!existsSync('models/demo'))('prints a table with titles and timings', async () => {
    const { stdout } = await recall('--user', '1', '--results', '5');
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^rank +item +SID +score +title$/);
    expect(lines.slice(2, 7).map((line) => line.trim().split(/ +/)[0])).toEqual([...'12345']);
    expect(stdout).toMatch(/ms: features .*total/);
  });

  it.skipIf(!existsSync('models/demo'))('tells where the time of each pass went', async () => {
    const { stdout } = await recall('--user', '1', '--passes');
    const passes = stdout.slice(stdout.indexOf('pass  kind')).trim().split('\n');
    expect(passes[0]).toMatch(/plan +projections +attention +rest +head +select +fork$/);
    const kinds = passes.slice(2).map((line) => line.trim().split(/ +/)[1]);
    expect(kinds[0]).toBe('prefill');
    expect(new Set(kinds.slice(1))).toEqual(new Set(['decode']));
  });
});
