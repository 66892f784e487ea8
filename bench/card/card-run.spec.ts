import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { CardFile } from './card-file.js';
import { NoCard, outcomeTable, runSteps } from './card-run.js';
import type { Step } from './step.js';

const folder = temporaryFolder({});
afterAll(() => folder.remove());
const path = join(folder.path, 'kept', 'card.json');
const ran = join(folder.path, 'ran');

let said: string[];
beforeEach(() => {
  said = [];
  rmSync(path, { force: true });
  rmSync(ran, { force: true });
});

/** A step of a program of the shell, which notes that it ran. */
const step = (name: string, script: string, more: Partial<Step> = {}): Step => ({
  name,
  limitSeconds: 20,
  commands: [{ program: 'sh', words: ['-c', `echo ${name} >>${ran}; ${script}`] }],
  ...more,
});

const run = (steps: readonly Step[], from?: string) =>
  runSteps(steps, { file: CardFile.open(path), from, say: (line) => said.push(line) });

const kept = () => JSON.parse(readFileSync(path, 'utf8'));
const ranNames = () => {
  const names = existsSync(ran) ? readFileSync(ran, 'utf8').trim().split('\n') : [];
  rmSync(ran, { force: true });
  return names;
};

const DOCUMENT = '{"card": "a card", "results": [{"name": "peak/copy", "value": 5, "unit": "x"}]}';

describe('a run on a card', () => {
  it('keeps what each step has measured, and judges all rows together', async () => {
    const peer = '{"name": "PyTorch/s/k", "value": 3, "unit": "us"}';
    const own = '{"name": "kernels/s/k", "value": 2, "unit": "us"}';
    const prints = (line: string) => `echo '{"card": "a card", "results": [${line}]}'`;
    const steps = [
      step('fast/a', prints(own), { prints: true }),
      step('fast/b', prints(peer), { prints: true }),
    ];
    expect(await run(steps)).toEqual([]);
    expect(kept().steps['fast/a']).toMatchObject({ outcome: 'passed', card: 'a card' });
    expect(kept().rows[1]).toMatchObject({
      name: 'a card: PyTorch/s/k',
      ratio: { value: 1.5, to: 'Tessera' },
    });
  });

  it('names one that fails by its last words, and the others go on', async () => {
    const steps = [
      step('correct/a', 'echo one; echo "no memory"; exit 1'),
      step('correct/b', 'echo no document', { prints: true }),
      step('correct/c', 'true'),
    ];
    expect(await run(steps)).toEqual(['correct/a', 'correct/b']);
    expect(kept().steps['correct/a']).toMatchObject({ outcome: 'failed', reason: 'no memory' });
    expect(kept().steps['correct/b'].reason).toMatch(/^correct\/b: expected a document/);
    expect(said).toContain('correct/a failed: no memory');
    expect(outcomeTable(steps, CardFile.open(path))).toMatch(/correct\/c +passed/);
  });

  it('ends one behind its limit, with all that it has started', async () => {
    const late = step('fast/late', `sleep 30; touch ${ran}.late`, { limitSeconds: 0.3 });
    expect(await run([late])).toEqual(['fast/late']);
    expect(kept().steps['fast/late'].reason).toBe('expected to end within 0.3 s');
  });

  it('goes on with those that have not passed, and sets up each time', async () => {
    const flag = join(folder.path, 'flag');
    const steps = [
      step('serve/addon', 'true', { isSetUp: true }),
      step('serve/a', 'true'),
      step('serve/b', `test -e ${flag}`),
      step('serve/c', 'true'),
    ];
    expect(await run(steps)).toEqual(['serve/b']);
    expect(ranNames()).toEqual(['serve/addon', 'serve/a', 'serve/b', 'serve/c']);
    writeFileSync(flag, '');
    expect(await run(steps)).toEqual([]);
    expect(ranNames()).toEqual(['serve/addon', 'serve/b']);
    expect(await run(steps, 'serve/b')).toEqual([]);
    expect(ranNames()).toEqual(['serve/addon', 'serve/b', 'serve/c']);
    await expect(run(steps, 'serve/d')).rejects.toThrow(
      '--from: expected of serve/addon, serve/a, serve/b, serve/c, got serve/d',
    );
  });

  it('runs nothing behind a set-up that fails', async () => {
    const steps = [step('fast/addon', 'exit 1', { isSetUp: true }), step('fast/a', 'true')];
    expect(await run(steps)).toEqual(['fast/addon']);
    expect(ranNames()).toEqual(['fast/addon']);
  });

  it('skips one that lacks a program, and asks again in the next run', async () => {
    const lacking = step('fast/profile', 'true', { lacks: () => 'expected ncu, got none' });
    expect(await run([lacking])).toEqual([]);
    expect(ranNames()).toEqual([]);
    expect(kept().steps['fast/profile']).toMatchObject({ outcome: 'skipped' });
    expect(await run([step('fast/profile', 'true')])).toEqual([]);
    expect(ranNames()).toEqual(['fast/profile']);
  });

  it('ends where a program finds no card', async () => {
    const steps = [step('fast/a', 'echo "no card 0" >&2; exit 3'), step('fast/b', 'true')];
    await expect(run(steps)).rejects.toThrow(new NoCard('fast/a: no card 0'));
    expect(ranNames()).toEqual(['fast/a']);
  });

  it('counts nothing of another commit, and refuses a file that is none of its own', async () => {
    const one = step('fast/a', `echo '${DOCUMENT}'`, { prints: true });
    await run([one]);
    ranNames();
    writeFileSync(path, JSON.stringify({ ...kept(), commit: 'another' }));
    await run([one]);
    expect(ranNames()).toEqual(['fast/a']);
    writeFileSync(path, 'no JSON');
    expect(() => CardFile.open(path)).toThrow(/expected a file that npm run card has written/);
  });
});
