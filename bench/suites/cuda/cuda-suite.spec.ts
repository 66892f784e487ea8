import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Flags, UsageError } from '../../../tools/terminal/command.js';
import { report } from '../../result.js';
import { cardsOf, readDocuments } from './card-documents.js';
import { measureOnCard } from './cuda-suite.js';

const folder = mkdtempSync(join(tmpdir(), 'tessera-cuda-suite-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The suite where there is no card. */
const run = (...words: string[]) => {
  const flags = Flags.parse(words, {
    stage: 'text',
    shape: 'text',
    measured: 'text',
    script: 'text',
  });
  return measureOnCard({ quick: false, flags, say: () => undefined }, []);
};

describe('suite cuda without a card', () => {
  it('prints what it would measure, and refuses', async () => {
    const written = vi.spyOn(process.stdout, 'write').mockImplementation(((
      _text: string,
      done: () => void,
    ) => {
      done();
      return true;
    }) as typeof process.stdout.write);
    try {
      await expect(run('--stage', 'recall,load')).rejects.toMatchObject({
        code: 'ENGINE_UNAVAILABLE',
        field: 'suite cuda',
        message: expect.stringMatching(/^this machine has no NVIDIA card, so nothing was measured/),
      });
      const text = String(written.mock.calls[0]?.[0]);
      expect(text).toContain('recall: card_bench recall --shape qwen3-1.7b --cases 1000x1,');
      expect(text).toContain('published: 307.9 ms (one H100 80 GB, Qwen3-1.7B shape');
      expect(text).not.toContain('constraint');
    } finally {
      written.mockRestore();
    }
  });

  it('refuses a stage or a shape that it does not have', async () => {
    await expect(run('--stage', 'kernel')).rejects.toThrow(
      new UsageError(
        '--stage: expected of kernels, recall, constraint, returning, load, peers, got kernel',
      ),
    );
    await expect(run('--shape', '')).rejects.toThrow(
      new UsageError('--shape: expected of qwen3-1.7b, qwen3-0.6b, got nothing'),
    );
  });

  it('takes what was measured elsewhere', async () => {
    const document = {
      card: 'a card',
      results: [{ name: 'peak/copy', value: 5, unit: 'bytes/s' }],
    };
    writeFileSync(join(folder, 'kernels.json'), JSON.stringify(document));
    writeFileSync(join(folder, 'notes.txt'), 'not read');
    const measured = await run('--measured', folder);
    expect(measured).toEqual([{ name: 'a card: peak/copy', value: 5, unit: 'bytes/s', bar: null }]);
    writeFileSync(join(folder, 'recall.json'), JSON.stringify(document));
    const machine = cardsOf(readDocuments(folder));
    expect(report('cuda', false, measured, machine).machine).toBe('a card');
  });

  it('refuses a folder without outputs, and outputs that are none', async () => {
    await expect(run('--measured', join(folder, 'absent'))).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'measured',
    });
    writeFileSync(join(folder, 'broken.json'), '{"card": "a card", "results": [{"name": "x"}]}');
    await expect(run('--measured', folder)).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'results.0.value',
    });
    writeFileSync(join(folder, 'broken.json'), 'card_bench: no memory');
    await expect(run('--measured', folder)).rejects.toThrow(/broken.json: expected a document/);
  });
});
