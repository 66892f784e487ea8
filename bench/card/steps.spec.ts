import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { PARTS, stepsOf } from './steps.js';
import { lacksCard } from './toolkit.js';

const setting = { device: 'cuda:1', python: 'a-python' };
const command = (...words: string[]) =>
  spawnSync(process.execPath, ['dist/bench/card/main.js', ...words], { encoding: 'utf8' });

describe('steps of a run on a card', () => {
  it('have names of their own, and less than nine minutes each', () => {
    const steps = PARTS.flatMap((part) => stepsOf(part, setting));
    expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
    expect(Math.max(...steps.map(({ limitSeconds }) => limitSeconds))).toBeLessThan(540);
  });

  it('set up the addon with kernels first, but for a processor', () => {
    for (const part of PARTS) {
      const [first] = stepsOf(part, setting);
      expect(first).toMatchObject({ name: `${part}/addon`, isSetUp: true });
      expect(first?.commands[0]?.words).toEqual(['tools/bootstrap.mjs', '--quiet', '--cuda']);
    }
    const onProcessor = stepsOf('serve', { ...setting, device: 'cpu' });
    expect(onProcessor.every(({ isSetUp }) => isSetUp !== true)).toBe(true);
  });

  it('run on the device that was named, with the Python that was named', () => {
    const words = (name: string) =>
      PARTS.flatMap((part) => stepsOf(part, setting)).find((step) => step.name === name)
        ?.commands[0]?.words;
    expect(words('serve/kill')?.slice(1)).toEqual(['serve', 'kill', '--device', 'cuda:1']);
    expect(words('correct/parity')?.slice(1)).toEqual([
      ...['parity', '--device', 'cuda:1', '--python', 'a-python'],
    ]);
  });

  it.skipIf(lacksCard() === undefined)('end with 3 and say why where there is no card', () => {
    const { status, stdout, stderr } = command('fast');
    expect(status).toBe(3);
    expect(stderr).toMatch(/^expected (an NVIDIA card|nvcc)/);
    expect(stdout).toContain('fast/recall-qwen3-1.7b');
    expect(stdout).toContain('published: 307.9 ms (one H100 80 GB');
  });

  it('refuse words that are none of theirs', () => {
    const wrong = (...words: string[]) => {
      const { status, stderr } = command(...words);
      return [status, stderr.split('\n')[0]];
    };
    expect(wrong()).toEqual([2, 'expected one of correct, fast, serve, got nothing']);
    expect(wrong('fast', '--device', 'cpu')).toEqual([2, '--device: expected cuda:N, got cpu']);
    expect(wrong('serve', '--device', 'tpu')).toEqual([
      2,
      '--device: expected cuda:N or cpu, got tpu',
    ]);
  });
});
