/** A batch of an import counts once, wherever the process is killed. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Disk, FILE_SYSTEM } from '@tessera/files';
import { FakeChangingCatalogue, seededRandom, temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CatalogueChanges } from './catalogue-changes.js';
import type { CatalogueChange } from './domain/change.js';
import { ChangeBatch } from './domain/change-batch.js';
import { IMPORTS_MAX, ImportMarks } from './outside/import-marks.js';

const SEED = 41;
const RUNS = 200;
const BATCHES = 4;
const KILLED = new Error('killed');

let folder = temporaryFolder({});
beforeEach(() => {
  folder = temporaryFolder({});
});
afterEach(() => folder.remove());

const delta = (itemId: string): CatalogueChange => ({
  op: 'patch_attributes',
  itemId,
  patch: { set: '', unset: [], add: [], take: [], delta: [{ attribute: 'budget', delta: 1 }] },
});
const OTHER: CatalogueChange = { op: 'pause', itemId: 'other' };

/** A log on disk, and a process that is killed at a step, before or behind it. */
class Machine {
  readonly log = new FakeChangingCatalogue([]);
  private readonly files = new Map<string, Buffer>();
  stepsLeft = Number.POSITIVE_INFINITY;
  private readonly apply = this.log.apply.bind(this.log);

  constructor() {
    this.log.apply = (messages) => this.step(() => this.apply(messages));
  }

  private async step<T>(act: () => Promise<T>): Promise<T> {
    if (this.stepsLeft <= 0) throw KILLED;
    this.stepsLeft -= 1;
    if (this.stepsLeft === 0) throw KILLED;
    this.stepsLeft -= 1;
    const done = await act();
    if (this.stepsLeft === 0) throw KILLED;
    return done;
  }

  /** As many times as a delta is in the log. */
  count(itemId: string): number {
    return this.log.applied.filter((change) => (change as CatalogueChange).itemId === itemId)
      .length;
  }

  async started(): Promise<CatalogueChanges> {
    const write = async (path: string, bytes: Uint8Array) => {
      this.files.set(path, Buffer.from(bytes));
    };
    const rename = async (from: string, to: string) => {
      this.files.set(to, this.files.get(from) as Buffer);
    };
    const nothing = () => Promise.resolve();
    const disk: Disk = {
      ...FILE_SYSTEM,
      read: async (path) => this.files.get(path),
      rename: (from, to) => this.step(() => rename(from, to)),
      create: async (path) => ({
        write: (bytes) => this.step(() => write(path, bytes)),
        sync: nothing,
        close: nothing,
      }),
    };
    return over(this.log, await ImportMarks.open('/kept', this.log.state().sequence, disk));
  }
}

function over(log: FakeChangingCatalogue, imports: ImportMarks): CatalogueChanges {
  const onCompacted = () => undefined;
  return new CatalogueChanges(log, {
    folder: '/kept',
    compactAfterChanges: 0,
    onCompacted,
    imports,
  });
}

const imported = (changes: CatalogueChanges, batch: number) =>
  changes.applyImport(ChangeBatch.of([delta(`n${batch}`)]), { name: 'ads', position: batch });

/** Sends what may not have been applied again, as an importer does. */
async function importAll(machine: Machine, random: () => number): Promise<void> {
  let next = 0;
  while (next < BATCHES) {
    machine.stepsLeft = 1 + Math.floor(random() * 12);
    try {
      const changes = await machine.started();
      while (next < BATCHES) {
        if (random() < 0.3) await changes.apply([OTHER]);
        await imported(changes, next);
        // The importer may be killed before it remembers the answer.
        if (random() < 0.7) next += 1;
      }
    } catch (thrown) {
      expect((thrown as Error).message).toContain(KILLED.message);
    }
  }
}

describe('a batch of an import', () => {
  it(`counts once, wherever service and importer are killed (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    for (let run = 0; run < RUNS; run += 1) {
      const machine = new Machine();
      await importAll(machine, random);
      const counts = Array.from({ length: BATCHES }, (_, batch) => machine.count(`n${batch}`));
      expect(counts, `run ${run}`).toEqual(Array(BATCHES).fill(1));
    }
  });

  it('says that it was applied before, and tells nobody of it again', async () => {
    const changes = await new Machine().started();
    const heard: number[] = [];
    changes.follow(({ sequence }) => heard.push(sequence));
    expect(await imported(changes, 3)).toMatchObject({ sequence: 1, alreadyApplied: false });
    expect(await imported(changes, 3)).toMatchObject({ sequence: 1, alreadyApplied: true });
    expect(await imported(changes, 2)).toMatchObject({ alreadyApplied: true });
    const both = await Promise.all([imported(changes, 4), imported(changes, 4)]);
    expect(both.map(({ alreadyApplied }) => alreadyApplied)).toEqual([false, true]);
    expect(heard).toEqual([1, 2]);
  });

  it('that is refused may be sent without what was at fault', async () => {
    const machine = new Machine();
    const changes = await machine.started();
    const wrong = ChangeBatch.of([delta('a'), delta('wrong')]);
    const mark = { name: 'ads', position: 1 };
    await expect(changes.applyImport(wrong, mark)).rejects.toThrow('changes[1]');
    await changes.apply([OTHER]);
    // Another start sees a newer version, which is not that batch.
    const again = await machine.started();
    const applied = await again.applyImport(ChangeBatch.of([delta('a')]), mark);
    expect(applied.alreadyApplied).toBe(false);
    expect(machine.count('a')).toBe(1);
  });

  it('is refused on a full disk, as is all else until its mark is gone from there', async () => {
    const machine = new Machine();
    let isFull = false;
    const full = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
    const create: Disk['create'] = (path) => (isFull ? full() : FILE_SYSTEM.create(path));
    const imports = await ImportMarks.open(folder.path, 0, { ...FILE_SYSTEM, create });
    const changes = over(machine.log, imports);
    isFull = true;
    await expect(imported(changes, 0)).rejects.toMatchObject({ code: 'STORE_FULL' });
    await expect(changes.apply([OTHER])).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect(machine.log.applied).toEqual([]);
    isFull = false;
    await changes.apply([OTHER]);
    expect(await imported(changes, 0)).toMatchObject({ alreadyApplied: false });
  });

  it.each([
    [{ name: '', position: 1 }, 'importMark.name'],
    [{ name: 'x'.repeat(129), position: 1 }, 'importMark.name'],
    [{ name: 'ads', position: -1 }, 'importMark.position'],
    [{ name: 'ads', position: 0.5 }, 'importMark.position'],
  ])('with a bad mark is refused: %j', async (mark, field) => {
    const changes = await new Machine().started();
    const sent = changes.applyImport(ChangeBatch.of([OTHER]), mark);
    await expect(sent).rejects.toMatchObject({ code: 'CATALOGUE_INVALID', field });
    await changes.apply([OTHER]);
  });
});

describe('the file of imports', () => {
  it('keeps the newest, and is read again', async () => {
    const marks = await ImportMarks.open(folder.path, 0);
    for (let i = 0; i <= IMPORTS_MAX; i += 1) {
      const apply = () => Promise.resolve(i);
      // Kept with the next one.
      if (i < IMPORTS_MAX) Object.assign(marks, { path: '' });
      else Object.assign(marks, { path: join(folder.path, 'imports.json') });
      await marks.applying({ name: `${i}`, position: i }, i, apply);
    }
    const again = await ImportMarks.open(folder.path, IMPORTS_MAX + 1);
    expect(again.has({ name: '0', position: 0 })).toBe(false);
    expect(again.has({ name: '1', position: 1 })).toBe(true);
    expect(again.has({ name: `${IMPORTS_MAX}`, position: IMPORTS_MAX })).toBe(true);
    expect(again.has({ name: `${IMPORTS_MAX}`, position: IMPORTS_MAX + 1 })).toBe(false);
  });

  it.each(['', '[]', '{"positions":[["a",-1]],"intent":null}', '{"positions":[]}'])(
    'is refused where it is damaged: %s',
    async (text) => {
      folder.remove();
      folder = temporaryFolder({ 'imports.json': text });
      const opened = ImportMarks.open(folder.path, 0);
      await expect(opened).rejects.toMatchObject({ code: 'CATALOGUE_CORRUPT' });
    },
  );

  it('is not there where nothing was imported', async () => {
    const changes = over(new FakeChangingCatalogue([]), await ImportMarks.open(folder.path, 0));
    await changes.apply([OTHER]);
    expect(existsSync(join(folder.path, 'imports.json'))).toBe(false);
  });
});
