import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CARD_SHAPES, CUDA_STAGES, planLines, planOf } from './plan.js';
import { SCRIPT_CACHE, scriptOf } from './script.js';

const full = planOf({ quick: false, stages: CUDA_STAGES, shapes: CARD_SHAPES, cache: 'kept' });

const folder = mkdtempSync(join(tmpdir(), 'tessera-cuda-plan-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('plan of a run on a card', () => {
  it('sets the recalls of the published shape against each published figure', () => {
    const published = full
      .filter(({ name }) => name === 'recall-qwen3-1.7b')
      .flatMap(({ measures }) => measures.map((one) => [one.what, one.published?.value]));
    expect(published).toEqual([
      ['qwen3-1.7b: 1 recalls of a context of 1000, beam 256', 17.6],
      ['qwen3-1.7b: 8 recalls of a context of 1000, beam 256', 93.2],
      ['qwen3-1.7b: 1 recalls of a context of 5000, beam 256', 42.3],
      ['qwen3-1.7b: 4 recalls of a context of 5000, beam 256', 154.2],
      ['qwen3-1.7b: 8 recalls of a context of 5000, beam 256', 307.9],
    ]);
  });

  it('sets no other shape against figures of that one', () => {
    const others = full.filter(({ name }) => /^(recall|load)-qwen3-0\.6b$/.test(name));
    expect(others.length).toBe(2);
    const measures = others.flatMap((task) => task.measures);
    expect(measures.every(({ published }) => published === undefined)).toBe(true);
  });

  it('gives every run a name of its own, which is a file', () => {
    const names = full.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.every((name) => /^[\w.-]+$/.test(name))).toBe(true);
  });

  it('runs the peers on the catalogue and weights that card_bench has drawn', () => {
    const words = full.filter(({ stage }) => stage === 'peers').map((task) => task.words);
    expect(words[1]).toEqual([
      ...['bench/peers/sparse_constraint_peer.py', 'time'],
      ...['kept/card-catalogue-10000000-8192-1/sids.u16', '3', '8192', 'cuda'],
      ...['70,128,256,512', '15'],
    ]);
    expect(words[2]?.slice(1, 3)).toEqual([
      'kept/card-qwen3-1.7b-1',
      'kept/card-catalogue-1000000-8192-1/sids.u16',
    ]);
  });

  it('is a script too, which keeps what programs print and goes on after one that fails', () => {
    const tasks = planOf({
      quick: true,
      stages: ['recall', 'constraint', 'load'],
      shapes: ['qwen3-1.7b'],
      cache: SCRIPT_CACHE,
    });
    writeFileSync(join(folder, 'run.sh'), scriptOf(tasks));
    // Prints its words; knows no constraint.
    writeFileSync(
      join(folder, 'program'),
      '#!/bin/sh\necho "$@"\necho "no $1" >&2\ntest "$1" != constraint\n',
      { mode: 0o755 },
    );
    const outputs = join(folder, 'the outputs');
    const words = [join(folder, 'run.sh'), join(folder, 'program'), 'none', folder, outputs];
    const { status, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, 'constraint failed: no constraint\n']);
    const kept = readdirSync(outputs).filter((name) => !name.endsWith('.log'));
    expect(kept).toEqual(['load-qwen3-1.7b.json', 'recall-qwen3-1.7b.json']);
    expect(readFileSync(join(outputs, 'recall-qwen3-1.7b.json'), 'utf8')).toBe(
      'recall --shape qwen3-1.7b --cases 1000x1,1000x8 --width 256 --items 1000000 ' +
        `--rounds 5 --cache ${folder}\n`,
    );
  });

  it('has the stages and shapes that were asked for, in smaller sizes where it is quick', () => {
    const quick = planOf({
      quick: true,
      stages: ['constraint'],
      shapes: ['qwen3-0.6b'],
      cache: 'kept',
    });
    expect(planLines(quick)).toEqual([
      'constraint: card_bench constraint --items 1000000 --widths 70,256 --changes 10000 ' +
        '--rounds 5 --cache kept',
      '  1000000 SIDs of 3 x 8192: copied to the card; 100 changes of them',
      ...[70, 256].map(
        (width) =>
          `  step, 1000000 SIDs, ${width} beams, 0 and 10000 changes; ` +
          'published: ' +
          '0.033 ms (TPU v6e, model of 3B, 20 million items, beam 70: 0.25 % of an inference; ' +
          'STATIC, youtube/static-constraint-decoding)',
      ),
    ]);
  });
});
