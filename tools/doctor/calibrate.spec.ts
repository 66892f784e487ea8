import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@tessera/testing';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const INPUTS = ['attention', 'attentionOutput', 'mlp', 'mlpOutput'];

/** Item IDs that the demo catalogue has. */
function items(count: number): string[] {
  const lines = readFileSync('models/demo/catalogue.jsonl', 'utf8').split('\n').slice(0, count);
  return lines.map((line) => (JSON.parse(line) as { item_id: string }).item_id);
}

describe('npm run doctor -- --calibrate', () => {
  it('writes scales that an evaluation in w8a8 takes', async () => {
    const history = items(30);
    const sequences = Object.fromEntries(
      [0, 5, 10].map((from) => [`user-${from}`, history.slice(from, from + 15)]),
    );
    const folder = temporaryFolder({ 'sequences.json': sequences });
    const path = (name: string) => join(folder.path, name);
    const sequencesFlags = ['--sequences', path('sequences.json'), '--threads', '1'];
    const { stdout } = await run('node', [
      'dist/tools/doctor.js',
      '--calibrate',
      ...[...sequencesFlags, '--out', path('scales.json'), '--keep', '999'],
    ]);
    expect(stdout).toContain('of 3 prompts');
    const scales = JSON.parse(readFileSync(path('scales.json'), 'utf8'));
    expect(scales).toMatchObject({ format: 'tessera-activation-scales-2', percentile: 99.9 });
    for (const layer of Object.values(scales.layers) as Record<string, number>[]) {
      expect(Object.keys(layer)).toEqual(INPUTS);
      for (const scale of Object.values(layer)) expect(scale).toBeGreaterThan(0);
    }
    const compared = await run('node', [
      'dist/tools/evaluate.js',
      ...[...sequencesFlags, '--compare', 'f32,w8a8', '--json', path('result.json')],
      ...['--activation-scales', path('scales.json')],
    ]);
    const results = JSON.parse(readFileSync(path('result.json'), 'utf8'));
    folder.remove();
    expect(results).toMatchObject([
      { computeType: 'f32', users: 3, failedUsers: 0, overlap: 1 },
      { computeType: 'w8a8', users: 3, failedUsers: 0 },
    ]);
    expect(results[1].overlap).toBeGreaterThan(0.5);
    expect(compared.stdout).toContain('same@50');
  });

  it('refuses scales of another model by their field', async () => {
    const folder = temporaryFolder({
      'scales.json': { format: 'tessera-activation-scales-2', modelDigest: '00' },
      'sequences.json': { user: items(5) },
    });
    const words = ['--sequences', join(folder.path, 'sequences.json'), '--dtype', 'w8a8'];
    const scales = ['--activation-scales', join(folder.path, 'scales.json')];
    const failed = run('node', ['dist/tools/evaluate.js', ...words, ...scales]);
    await expect(failed).rejects.toMatchObject({ stderr: expect.stringContaining('modelDigest') });
    folder.remove();
  });
});
