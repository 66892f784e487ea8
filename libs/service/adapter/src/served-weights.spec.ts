import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { FILE_SYSTEM } from '@tessera/files';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServedWeights, type ServedWeightsParts } from './served-weights.js';

/** Serves the folder whose name it was given last; those in `broken` cannot be loaded. */
class EngineOfFolders {
  readonly broken = new Set<string>();
  model = { digest: '/base' };
  adapters = 0;
  private generation = 0;

  async updateWeights(folder: string) {
    if (this.broken.has(folder)) throw new TesseraError('MODEL_CORRUPT', folder);
    this.model = { digest: folder };
    this.generation += 1;
    return { digest: folder, generation: this.generation, drainedUs: 0, swappedUs: 0 };
  }

  adapterArena() {
    return { adapters: this.adapters };
  }
}

let folder: ReturnType<typeof temporaryFolder>;
let engine: EngineOfFolders;
beforeEach(() => {
  folder = temporaryFolder({});
  engine = new EngineOfFolders();
});
let opened: ServedWeights | undefined;
afterEach(async () => {
  await opened?.close();
  folder.remove();
});

/** In place of what was opened before. */
async function open(parts: Partial<ServedWeightsParts> = {}) {
  await opened?.close();
  opened = undefined;
  const path = folder.path;
  opened = await ServedWeights.open({
    engine,
    path,
    modelPath: '/base',
    waitMaxMs: 1000,
    ...parts,
  });
  return opened;
}

describe('weights in service', () => {
  it('are those of the process until others are put in their place', async () => {
    const weights = await open();
    expect(weights.current()).toEqual({ serving: '', previous: '', digest: '/base' });
    await weights.update({ name: 'monday' });
    await weights.update({ name: 'tuesday' });
    const digest = join(folder.path, 'tuesday');
    expect(weights.current()).toEqual({ serving: 'tuesday', previous: 'monday', digest });
  });

  it('go back to those before, and back again', async () => {
    const weights = await open();
    await weights.update({ name: 'monday' });
    await weights.rollBack();
    expect(weights.current()).toMatchObject({ serving: '', previous: 'monday', digest: '/base' });
    await weights.rollBack();
    expect(weights.current()).toMatchObject({ serving: 'monday', previous: '' });
  });

  it('are the same after a restart', async () => {
    await (await open()).update({ name: 'monday' });
    engine = new EngineOfFolders();
    expect((await open()).current()).toMatchObject({ serving: 'monday' });
    expect(engine.model.digest).toBe(join(folder.path, 'monday'));
  });

  it('stay where the new ones cannot be loaded', async () => {
    const weights = await open();
    engine.broken.add(join(folder.path, 'spoiled'));
    await expect(weights.update({ name: 'spoiled' })).rejects.toMatchObject({
      code: 'MODEL_CORRUPT',
    });
    expect(weights.current()).toMatchObject({ serving: '', digest: '/base' });
    expect(existsSync(join(folder.path, 'weights.json'))).toBe(false);
  });

  it('stay where it cannot be kept that others serve', async () => {
    const rename = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
    const weights = await open({ disk: { ...FILE_SYSTEM, rename } });
    await expect(weights.update({ name: 'monday' })).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect(weights.current()).toMatchObject({ serving: '', digest: '/base' });
  });

  it('stay while adapters are loaded, which belong to them', async () => {
    const weights = await open();
    engine.adapters = 2;
    await expect(weights.update({ name: 'monday' })).rejects.toMatchObject({
      code: 'ADAPTER_STATE',
    });
    expect(engine.model.digest).toBe('/base');
  });

  it.each(['', '..', '../x', 'a/b', '/etc', 'A'])('are not looked for at %j', async (name) => {
    const weights = await open();
    const refused = (async () => weights.update({ name }))();
    await expect(refused).rejects.toMatchObject({ code: 'ADAPTER_INVALID' });
  });

  it('are not updated without a folder', async () => {
    const weights = await open({ path: '' });
    await expect(weights.update({ name: 'monday' })).rejects.toThrow(/weights\.path/);
  });

  it.each(['{', '{"format": 2}', '{"format": 1, "serving": "../x", "previous": ""}'])(
    'are not guessed from %j',
    async (text) => {
      writeFileSync(join(folder.path, 'weights.json'), text);
      await expect(open()).rejects.toMatchObject({ code: 'MODEL_CORRUPT' });
    },
  );

  it('change one update after another', async () => {
    const weights = await open();
    await Promise.all([
      weights.update({ name: 'a' }),
      weights.update({ name: 'b' }),
      weights.rollBack(),
    ]);
    expect(weights.current()).toMatchObject({ serving: 'a', previous: 'b' });
    const kept = JSON.parse(readFileSync(join(folder.path, 'weights.json'), 'utf8'));
    expect(kept).toMatchObject({ format: 2, serving: 'a', previous: 'b' });
  });

  it('are refused to a second process', async () => {
    await open();
    const second = ServedWeights.open({
      engine,
      path: folder.path,
      modelPath: '/base',
      waitMaxMs: 1000,
    });
    await expect(second).rejects.toMatchObject({ code: 'STORE_INVALID', field: 'weights.path' });
  });

  it.each(['weights.json', 'weights.copy.json'])('are known without %s', async (name) => {
    await (await open()).update({ name: 'monday' });
    for (const damage of ['', '{"format": 2, "serving": "tuesday", "previous": ""}', null]) {
      const path = join(folder.path, name);
      if (damage === null) rmSync(path);
      else writeFileSync(path, damage);
      expect((await open()).current().serving).toBe('monday');
      expect(readFileSync(path, 'utf8')).toContain('monday');
    }
  });

  it('are those of a file without a checksum, which is written anew', async () => {
    const path = join(folder.path, 'weights.json');
    writeFileSync(path, '{"format": 1, "serving": "monday", "previous": ""}');
    expect((await open()).current().serving).toBe('monday');
    expect(readFileSync(path, 'utf8')).toContain('"format": 2');
  });

  it('are not replaced on a disk below its reserve, which shows', async () => {
    const weights = await open({ reserveBytes: Number.MAX_SAFE_INTEGER });
    await expect(weights.update({ name: 'monday' })).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect(weights.current().serving).toBe('');
    expect(weights.condition()).toMatchObject({ state: 'degraded' });
  });
});
