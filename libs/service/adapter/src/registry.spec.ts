import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { type Disk, FILE_SYSTEM } from '@tessera/files';
import { FakeAdapterEngine, fakePush, partsOf, temporaryFolder } from '@tessera/testing';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Adapters } from './adapters.js';
import type { AdapterProbe } from './domain/adapter-probe.js';
import type { PushPart } from './domain/push-parts.js';
import { repairRegistry } from './repair-registry.js';

const LIMITS = { rankMax: 64, normMax: 100, versionBytesMax: 4000, diskBytesMax: 6000 };
const RULES = {
  samplesMin: 5,
  overlapMinPercent: 20,
  failureMaxPercent: 5,
  emptyMaxPercent: 5,
  shortMaxPercent: 10,
  latencyMaxPercent: 300,
  clickDropMax: 1000,
};
const ALL = { share: 1, isCompared: false, isWarmed: false };

/** Answers every version with the same items. */
const probe: AdapterProbe = {
  recall: async () => ({ itemIds: ['a', 'b'], isShort: false }),
  warm: async () => undefined,
  sampleUserIds: async () => ['ann', 'bob'],
};

const folders: { remove: () => void }[] = [];
const opened: Adapters[] = [];
afterEach(async () => {
  for (const adapters of opened.splice(0)) {
    await adapters.close();
    expect(adapters.heldWhileIdle()).toEqual({ pushBytes: 0 });
  }
  for (const folder of folders.splice(0)) folder.remove();
});

interface World {
  readonly path: string;
  readonly engine: FakeAdapterEngine;
  readonly lost: string[];
  nowMs: number;
}

function world(arenaBytes = 1 << 20): World {
  const folder = temporaryFolder({});
  folders.push(folder);
  return { path: folder.path, engine: new FakeAdapterEngine(arenaBytes), lost: [], nowMs: 1000 };
}

async function open(at: World, disk: Disk = FILE_SYSTEM): Promise<Adapters> {
  const adapters = await Adapters.open(at.engine, probe, {
    registry: {
      folder: at.path,
      defaultName: 'main',
      limits: LIMITS,
      disk,
      nowMs: () => (at.nowMs += 1),
    },
    rollout: {
      golden: { path: '', userCount: 4 },
      watch: { rules: RULES },
      warmUsers: 10,
      warmMs: 1000,
    },
    onEvent: ({ action, digest }) => at.lost.push(`${action} ${digest}`),
  });
  opened.push(adapters);
  return adapters;
}

async function pushed(adapters: Adapters, weights: string, name = 'main', config: object = {}) {
  const { version } = await adapters.push(partsOf(fakePush(name, weights, config)));
  return version.digest;
}

/** The version for a request that names none. */
function served(adapters: Adapters, wanted = '', user = 'ann'): string {
  const lease = adapters.choose(wanted, user);
  lease.release();
  return lease.adapter?.digest ?? 'base';
}

const filesOf = (at: World, folder: string) => {
  try {
    return readdirSync(join(at.path, folder)).sort();
  } catch {
    return [];
  }
};

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error('it was taken'),
    (thrown: unknown) => TesseraError.from(thrown),
  );
  return error instanceof TesseraError
    ? `${error.code} ${error.field ?? ''}`.trim()
    : error.message;
}

describe('a push', () => {
  it('is kept, validated, given back to the engine; the same again changes nothing', async () => {
    const at = world();
    const adapters = await open(at);
    const push = fakePush('main', 'weights', { r: 8 });
    const first = await adapters.push(partsOf(push));
    expect(first).toMatchObject({ isKnown: false, version: { state: 'validated', name: 'main' } });
    expect(first.version.facts?.rankMax).toBe(8);
    expect(at.engine.held.size).toBe(0);
    expect(served(adapters)).toBe('base');
    const headerAlone = (async function* () {
      yield { header: push.header } as PushPart;
    })();
    expect(await adapters.push(headerAlone)).toEqual({ ...first, isKnown: true });
    expect(at.engine.loads).toBe(1);
    const { digest } = first.version;
    const path = join(at.path, 'versions', digest, 'adapter_model.safetensors');
    expect(readFileSync(path, 'utf8')).toBe('weights');
  });

  const good = fakePush('main', 'weights');
  const parts = async (push = good) => {
    const all: PushPart[] = [];
    for await (const part of partsOf(push)) all.push(part);
    return all;
  };
  const withHeader = (change: object) => ({ ...good, header: { ...good.header, ...change } });
  const [config, weights] = good.header.files as [object, object];

  it.each<[string, () => Promise<readonly PushPart[]>, string]>([
    ['without a header', async () => (await parts()).slice(1), 'ADAPTER_INVALID header'],
    ['that is cut off', async () => (await parts()).slice(0, -2), 'ADAPTER_CORRUPT end'],
    ['without an end', async () => (await parts()).slice(0, -1), 'ADAPTER_CORRUPT end'],
    [
      'that ends too early',
      async () => [...(await parts()).slice(0, 2), { isEnd: true }],
      'ADAPTER_CORRUPT adapter_model.safetensors',
    ],
    [
      'with more bytes than it says',
      async () => [...(await parts()).slice(0, -1), { data: Buffer.from('x') }, { isEnd: true }],
      'ADAPTER_CORRUPT files',
    ],
    [
      'whose bytes are others',
      async () => parts({ ...good, contents: [Buffer.from('{}'), Buffer.from('WEIGHTS')] }),
      'ADAPTER_CORRUPT adapter_model.safetensors',
    ],
    ['of another model', () => parts(withHeader({ baseModel: 'x' })), 'ADAPTER_INVALID baseModel'],
    ['of a path', () => parts(withHeader({ name: '../main' })), 'ADAPTER_INVALID name'],
    ['named base', () => parts(withHeader({ name: 'base' })), 'ADAPTER_INVALID name'],
    [
      'named like a digest',
      () => parts(withHeader({ name: 'a'.repeat(64) })),
      'ADAPTER_INVALID name',
    ],
    ['without a name', () => parts(withHeader({ name: '' })), 'ADAPTER_INVALID name'],
    ['without weights', () => parts(withHeader({ files: [config] })), 'ADAPTER_INVALID files'],
    [
      'with a file twice',
      () => parts(withHeader({ files: [config, config] })),
      'ADAPTER_INVALID files[1].name',
    ],
    [
      'with a file elsewhere',
      () => parts(withHeader({ files: [{ ...config, name: '../../x' }, weights] })),
      'ADAPTER_INVALID files[0].name',
    ],
    [
      'with pickled weights',
      () => parts(withHeader({ files: [config, { ...weights, name: 'adapter_model.bin' }] })),
      'ADAPTER_INVALID files[1].name',
    ],
    [
      'with a digest that is none',
      () => parts(withHeader({ files: [config, { ...weights, sha256: 'x' }] })),
      'ADAPTER_INVALID files[1].sha256',
    ],
    [
      'that is too large',
      () => parts(fakePush('main', 'w'.repeat(LIMITS.versionBytesMax))),
      'ADAPTER_INVALID files',
    ],
    [
      'with a long remark',
      () => parts(withHeader({ remark: 'x'.repeat(1025) })),
      'ADAPTER_INVALID remark',
    ],
    [
      'of a rank over the limit',
      () => parts(fakePush('main', 'w', { r: 65 })),
      'ADAPTER_INVALID r',
    ],
    [
      'of a norm over the limit',
      () => parts(fakePush('main', 'w', { norm: 1e9 })),
      'ADAPTER_INVALID norm',
    ],
  ])(
    '%s is refused, leaves nothing, and the active version serves on',
    async (_, made, expected) => {
      const at = world();
      const adapters = await open(at);
      const active = await pushed(adapters, 'active');
      await adapters.activate('main', active, ALL);
      const bad = await made();
      const stream = (async function* () {
        yield* bad;
      })();
      expect(await refusal(adapters.push(stream))).toBe(expected);
      expect(filesOf(at, 'staging')).toEqual([]);
      expect(filesOf(at, 'versions')).toEqual([active]);
      expect(served(adapters)).toBe(active);
      expect(at.engine.held.size).toBe(1);
      // Nor is its name blocked.
      await pushed(adapters, 'another');
    },
  );

  it('names its files as its trainer does where the engine refuses it', async () => {
    const adapters = await open(world());
    const refused = adapters.push(partsOf(fakePush('main', 'w', { norm: 1e9 })));
    await expect(refused).rejects.toThrow(/^adapter_config.json: norm: expected at most/);
  });

  it('is refused while another of its name is under way, and its client may go away', async () => {
    const at = world();
    const adapters = await open(at);
    let goAway: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      goAway = resolve;
    });
    let hasBegun: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      hasBegun = resolve;
    });
    const slow = adapters.push(
      (async function* () {
        yield { header: good.header } as PushPart;
        hasBegun();
        await gone;
      })(),
    );
    await begun;
    expect(await refusal(pushed(adapters, 'other'))).toBe('PUSH_CONFLICT name');
    await pushed(adapters, 'other', 'another-name');
    goAway();
    expect(await refusal(slow)).toBe('ADAPTER_CORRUPT end');
    expect(filesOf(at, 'staging')).toEqual([]);
    await pushed(adapters, 'other');
  });

  it('that failed for want of memory is validated when it is pushed again', async () => {
    const at = world(10);
    const adapters = await open(at);
    await adapters.pin('main', await pushed(adapters, 'pinned', 'main'));
    const push = fakePush('main', 'second');
    expect(await refusal(adapters.push(partsOf(push)))).toBe('ADAPTER_ARENA_FULL');
    expect(adapters.list('main').map(({ state }) => state)).toContain('received');
    await adapters.unpin('main', adapters.list('main')[1]?.digest ?? '');
    const again = await adapters.push(
      (async function* () {
        yield { header: push.header } as PushPart;
      })(),
    );
    expect(again).toMatchObject({ isKnown: true, version: { state: 'validated' } });
  });
});

describe('memory', () => {
  it('of files is given to a push by the oldest that are retired and not pinned', async () => {
    const at = world();
    const adapters = await open(at);
    const digests: string[] = [];
    for (const text of ['a', 'b', 'c', 'd']) {
      digests.push(await pushed(adapters, text.repeat(1400)));
      await adapters.activate('main', digests.at(-1) as string, ALL);
    }
    const [a, b, c, d] = digests as [string, string, string, string];
    await adapters.pin('main', a);
    // Active d, its predecessor c, and a, which is pinned: only b may go.
    const e = await pushed(adapters, 'e'.repeat(1400));
    expect(filesOf(at, 'versions')).toEqual([a, c, d, e].sort());
    expect(await refusal(pushed(adapters, 'f'.repeat(1400)))).toBe('STORE_FULL adapters.diskBytes');
    expect(await refusal(adapters.activate('main', b, ALL))).toBe('ADAPTER_NOT_FOUND digest');
    await adapters.unpin('main', a);
    await pushed(adapters, 'f'.repeat(1400));
    expect(filesOf(at, 'versions')).not.toContain(a);
  });

  it('of the engine is not taken from what is pinned; the active version serves on', async () => {
    const at = world(100);
    const adapters = await open(at);
    for (const text of ['a', 'b']) {
      await adapters.pin('main', await pushed(adapters, text.repeat(30)));
    }
    const active = await pushed(adapters, 'c'.repeat(30));
    await adapters.activate('main', active, ALL);
    expect(await refusal(pushed(adapters, 'd'.repeat(30)))).toBe('ADAPTER_ARENA_FULL');
    expect(served(adapters)).toBe(active);
  });

  it('of the engine is taken from what a rollback goes back to, which loads it again', async () => {
    const at = world(70);
    const adapters = await open(at);
    const first = await pushed(adapters, 'a'.repeat(30));
    await adapters.activate('main', first, ALL);
    const second = await pushed(adapters, 'b'.repeat(30));
    await adapters.activate('main', second, ALL);
    await pushed(adapters, 'c'.repeat(30));
    expect(adapters.find('main', first).isLoaded).toBe(false);
    const { replaced } = await adapters.rollBack('main', 'asked for');
    expect(served(adapters)).toBe(first);
    // As it is now, not as it was.
    expect(replaced).toMatchObject({ digest: second, state: 'retired', reason: 'asked for' });
  });

  it('of a user passes from what served to what serves, and from it to a canary', async () => {
    const at = world();
    const adapters = await open(at);
    const inEngine = async (digest: string) => {
      const held = await adapters.choose(digest, '');
      held.release();
      return held.adapter?.engine.digest as string;
    };
    const [first, second, third] = [
      await pushed(adapters, 'a'),
      await pushed(adapters, 'b'),
      await pushed(adapters, 'c'),
    ] as const;
    await adapters.activate('main', first, ALL);
    expect([...at.engine.predecessors]).toEqual([]);
    const a = await inEngine(first);
    await adapters.activate('main', second, ALL);
    const b = await inEngine(second);
    expect([...at.engine.predecessors]).toEqual([[b, a]]);
    await adapters.activate('main', third, { ...ALL, share: 0.5 });
    const c = await inEngine(third);
    expect([...at.engine.predecessors]).toEqual([
      [b, a],
      [c, b],
    ]);
    // The version that serves after a rollback follows what it followed before.
    await adapters.rollBack('main', 'asked for');
    await adapters.rollBack('main', 'asked for');
    expect(at.engine.predecessors.get(a)).toBeUndefined();

    await adapters.activate('main', second, ALL);
    await adapters.close();
    at.engine.predecessors.clear();
    await open(at);
    expect([...at.engine.predecessors]).toEqual([[b, a]]);
  });

  it('stays with a request until it has ended, whatever becomes of its version', async () => {
    const at = world();
    const adapters = await open(at);
    await adapters.activate('main', await pushed(adapters, 'a'), ALL);
    const lease = adapters.choose('', 'ann');
    await adapters.rollBack('main', 'asked for');
    expect(served(adapters)).toBe('base');
    expect(at.engine.held.size).toBe(1);
    lease.release();
    lease.release();
    expect(at.engine.held.size).toBe(0);
  });
});

describe('the choice of a version', () => {
  it('keeps to the users of a canary while its share grows', async () => {
    const at = world();
    const adapters = await open(at);
    const active = await pushed(adapters, 'a');
    await adapters.activate('main', active, ALL);
    const canary = await pushed(adapters, 'b');
    const users = Array.from({ length: 500 }, (_, i) => `user-${i}`);
    let before: string[] = [];
    for (const share of [0.1, 0.3, 0.7]) {
      await adapters.activate('main', canary, { ...ALL, share });
      const on = users.filter((user) => served(adapters, '', user) === canary);
      expect(on.length / users.length).toBeGreaterThan(share - 0.07);
      expect(on.length / users.length).toBeLessThan(share + 0.07);
      expect(before.filter((user) => !on.includes(user))).toEqual([]);
      before = on;
    }
    await adapters.rollBack('main', 'asked for');
    expect(users.filter((user) => served(adapters, '', user) !== active)).toEqual([]);
  });

  it('takes names, digests that are loaded, and base', async () => {
    const adapters = await open(world());
    const digest = await pushed(adapters, 'a', 'other');
    const choice = async (wanted: string) => served(adapters, wanted);
    for (const wanted of ['', 'other']) expect(await choice(wanted)).toBe('base');
    for (const wanted of ['strange', 'f'.repeat(64)])
      expect(await refusal(choice(wanted))).toBe('ADAPTER_NOT_FOUND adapter');
    expect(await refusal(choice(digest))).toBe('ADAPTER_STATE adapter');
    await adapters.pin('other', digest);
    expect(await choice(digest)).toBe(digest);
    await adapters.activate('other', digest, ALL);
    expect(await choice('other')).toBe(digest);
    await adapters.unpin('other', digest);
    await pushed(adapters, 'a', 'third');
    await adapters.activate('third', digest, ALL);
    await adapters.rollBack('other', '');
    expect(await choice(digest)).toBe(digest);
    for (const wanted of ['', 'base']) expect(await choice(wanted)).toBe('base');
  });
});

type Step = 'push' | 'activate' | 'rollback' | 'canary' | 'pin' | 'unpin' | 'delete' | 'reopen';

/**
 * The rules of docs/operate/adapter-versions.md once more: a stack of what was active, and one
 * canary.
 */
class NaiveRegistry {
  active: string[] = [];
  canary = '';

  activate(digest: string): void {
    if (this.active.at(-1) === digest) return;
    this.active = [...this.active.filter((one) => one !== digest), digest];
    this.canary = '';
  }

  startCanary(digest: string): boolean {
    if (this.active.at(-1) === digest) return false;
    this.canary = digest;
    return true;
  }

  rollBack(): boolean {
    if (this.canary !== '') {
      this.canary = '';
      return true;
    }
    return this.active.pop() !== undefined;
  }

  serves(): string {
    return this.active.at(-1) ?? 'base';
  }
}

it('serves what a naive restatement of the rules serves, also after a restart', async () => {
  const steps = fc.array(
    fc.tuple(
      fc.constantFrom<Step>(
        'push',
        'activate',
        'activate',
        'rollback',
        'canary',
        'pin',
        'unpin',
        'delete',
        'reopen',
      ),
      fc.integer({ min: 0, max: 4 }),
    ),
    { minLength: 5, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const at = world();
      let adapters = await open(at);
      const naive = new NaiveRegistry();
      const digests = new Map<number, string>();
      for (const [step, index] of list) {
        const digest = digests.get(index) ?? (await pushed(adapters, `weights ${index}`));
        digests.set(index, digest);
        const done = async (act: Promise<unknown>) => (await refusal(act)) === 'it was taken';
        if (step === 'activate' && naive.canary !== digest) {
          expect(await done(adapters.activate('main', digest, ALL))).toBe(true);
          naive.activate(digest);
        } else if (step === 'rollback') {
          expect(await done(adapters.rollBack('main', ''))).toBe(naive.rollBack());
        } else if (step === 'canary' && !naive.active.includes(digest)) {
          const isDone = await done(adapters.activate('main', digest, { ...ALL, share: 0.999999 }));
          expect(isDone).toBe(naive.startCanary(digest));
        } else if (step === 'pin') {
          await adapters.pin('main', digest);
        } else if (step === 'unpin') {
          await adapters.unpin('main', digest);
        } else if (step === 'delete') {
          const isServing = naive.serves() === digest || naive.canary === digest;
          const { isPinned } = adapters.find('main', digest);
          const isGone = await done(adapters.delete('main', digest));
          expect(isGone).toBe(!isServing && !isPinned);
          if (isGone) {
            naive.active = naive.active.filter((one) => one !== digest);
            digests.delete(index);
          }
        } else if (step === 'reopen') {
          await adapters.close();
          at.engine.held.clear();
          adapters = await open(at);
        }
        expect(served(adapters)).toBe(naive.canary === '' ? naive.serves() : naive.canary);
      }
      await adapters.close();
    }),
    { numRuns: 20 },
  );
});

/** Ends at step `last`: that one fails, and so does everything after it, as when a process dies. */
function dying(last: number): { disk: Disk; hasDied: () => boolean } {
  let steps = 0;
  let isDead = false;
  const step = <Result>(act: () => Promise<Result>): Promise<Result> => {
    steps += 1;
    if (steps >= last) isDead = true;
    return isDead ? Promise.reject(new Error('the process is dead')) : act();
  };
  const disk: Disk = {
    makeFolder: (path) => step(() => FILE_SYSTEM.makeFolder(path)),
    create: (path) =>
      step(async () => {
        const file = await FILE_SYSTEM.create(path);
        return {
          // Half of it may be there.
          write: (bytes) =>
            step(() => file.write(bytes)).catch(async (error) => {
              await file.write(bytes.subarray(0, bytes.length >> 1));
              throw error;
            }),
          sync: () => step(() => file.sync()),
          close: () => file.close(),
        };
      }),
    rename: (from, to) => step(() => FILE_SYSTEM.rename(from, to)),
    syncFolder: (path) => step(() => FILE_SYSTEM.syncFolder(path)),
    remove: (path) => step(() => FILE_SYSTEM.remove(path)),
    list: FILE_SYSTEM.list,
    read: FILE_SYSTEM.read,
    freeBytes: FILE_SYSTEM.freeBytes,
  };
  return { disk, hasDied: () => isDead };
}

/** A disk that is full from step `first` to step `last` of those that need room. */
function full(first: number, last: number): Disk {
  let steps = 0;
  const step = <Result>(act: () => Promise<Result>): Promise<Result> => {
    steps += 1;
    const isFull = steps >= first && steps <= last;
    return isFull ? Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })) : act();
  };
  return {
    ...FILE_SYSTEM,
    makeFolder: (path) => step(() => FILE_SYSTEM.makeFolder(path)),
    create: (path) =>
      step(async () => {
        const file = await FILE_SYSTEM.create(path);
        return {
          write: (bytes) => step(() => file.write(bytes)),
          sync: () => step(() => file.sync()),
          close: () => file.close(),
        };
      }),
    rename: (from, to) => step(() => FILE_SYSTEM.rename(from, to)),
  };
}

/** Every action once; says which were acknowledged, and what served then. */
async function everything(adapters: Adapters, acknowledged: string[]): Promise<void> {
  const done = async (what: string, act: Promise<unknown>) => {
    await act;
    acknowledged.push(`${what}: ${served(adapters)}`);
  };
  const digests: string[] = [];
  for (const text of ['first', 'second', 'third']) {
    await done(
      'push',
      pushed(adapters, text).then((digest) => digests.push(digest)),
    );
  }
  const [first, second, third] = digests as [string, string, string];
  await done('activate', adapters.activate('main', first, ALL));
  await done('activate', adapters.activate('main', second, ALL));
  await done('canary', adapters.activate('main', third, { ...ALL, share: 0.999999 }));
  await done('rollback', adapters.rollBack('main', ''));
  await done('rollback', adapters.rollBack('main', ''));
  await done('pin', adapters.pin('main', third));
  await done('unpin', adapters.unpin('main', third));
  await done('delete', adapters.delete('main', third));
}

async function undisturbed(): Promise<string[]> {
  const acknowledged: string[] = [];
  await everything(await open(world()), acknowledged);
  return acknowledged;
}

describe('a process that dies', () => {
  it('at any step has done what it acknowledged, the next thing whole or not at all', async () => {
    const expected = await undisturbed();
    let deaths = 0;
    for (let last = 1; ; last += 1) {
      const at = world();
      const { disk, hasDied } = dying(last);
      const acknowledged: string[] = [];
      try {
        const adapters = await open(at, disk);
        await everything(adapters, acknowledged);
      } catch {
        // Dead.
      }
      if (!hasDied()) break;
      deaths += 1;
      const count = acknowledged.length;
      expect(acknowledged).toEqual(expected.slice(0, count));
      at.engine.held.clear();
      // Its process would have let go of it.
      rmSync(join(at.path, 'lock'), { force: true });
      const after = await open(at);
      const before = count === 0 ? 'base' : expected[count - 1]?.split(': ')[1];
      const next = expected[count]?.split(': ')[1] ?? before;
      expect([before, next], `death at step ${last}`).toContain(served(after));
      expect(filesOf(at, 'staging')).toEqual([]);
      const known = after.list('').filter(({ state }) => state !== 'rejected');
      expect(filesOf(at, 'versions')).toEqual(known.map(({ digest }) => digest).sort());
      const loaded = known.filter(({ isLoaded }) => isLoaded).length;
      expect(at.engine.held.size).toBe(loaded);
      await after.close();
    }
    expect(deaths).toBeGreaterThan(40);
  });
});

describe('a disk that is full', () => {
  it('at any step refuses what it cannot keep; all works when there is room again', async () => {
    for (let first = 3; first < 76; first += 2) {
      const at = world();
      const adapters = await open(at, full(first, first));
      const acknowledged: string[] = [];
      const outcome = await refusal(everything(adapters, acknowledged));
      expect(['STORE_FULL', 'it was taken'], `full at step ${first}`).toContain(outcome);
      expect(served(adapters)).toBe(acknowledged.at(-1)?.split(': ')[1] ?? 'base');
      expect(filesOf(at, 'staging')).toEqual([]);
      if (outcome === 'it was taken') continue;
      const digest = await pushed(adapters, 'with room');
      await adapters.activate('main', digest, ALL);
      expect(served(adapters)).toBe(digest);
    }
  });
});

describe('a push for which no room could be made', () => {
  it('has reserved none: as much fits as before once the disk takes writes again', async () => {
    let isFull = false;
    const create: Disk['create'] = (path) =>
      isFull
        ? Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))
        : FILE_SYSTEM.create(path);
    const adapters = await open(world(), { ...FILE_SYSTEM, create });
    for (const text of ['a', 'b', 'c', 'd']) await pushed(adapters, text.repeat(1400));
    isFull = true;
    for (let i = 0; i < 5; i++) {
      // An old version has to leave first, and that cannot be written down.
      expect(await refusal(pushed(adapters, `${i}`.repeat(1400)))).toBe('STORE_FULL');
    }
    isFull = false;
    await expect(pushed(adapters, 'e'.repeat(1400))).resolves.toHaveLength(64);
  });
});

describe('a start', () => {
  it('serves what was before a version that is damaged, and says so', async () => {
    const at = world();
    const adapters = await open(at);
    const first = await pushed(adapters, 'first');
    const second = await pushed(adapters, 'second');
    await adapters.activate('main', first, ALL);
    await adapters.activate('main', second, ALL);
    await adapters.close();
    at.engine.held.clear();
    writeFileSync(join(at.path, 'versions', second, 'adapter_model.safetensors'), 'damage');
    const after = await open(at);
    expect(served(after)).toBe(first);
    expect(at.lost).toEqual([`lost ${second}`]);
    expect(after.find('main', second)).toMatchObject({ state: 'rejected' });
    expect(after.find('main', second).reason).toContain('SHA-256');
  });

  it('with another base model touches no version of the one before; they wait for it', async () => {
    const at = world();
    const adapters = await open(at);
    const first = await pushed(adapters, 'first');
    await adapters.activate('main', first, ALL);
    await adapters.close();
    at.engine.held.clear();
    const own = at.engine.model.digest;
    at.engine.model.digest = 'another-model';
    const other = await open(at);
    expect(served(other)).toBe('base');
    expect(at.lost).toEqual([`waits ${first}`]);
    expect(filesOf(at, 'versions')).toEqual([first]);
    const [shown] = other.list('main');
    const reason = `waits for base model ${own.slice(0, 16)}, with which it was active`;
    expect(shown).toMatchObject({ state: 'retired', isLoaded: false, reason });
    expect(await refusal(other.activate('main', first, ALL))).toContain('ADAPTER_STATE');
    expect(other.memory().disk.usedBytes).toBeGreaterThan(0);
    const { version } = await other.push(partsOf(fakePush('main', 'second', {}, 'another-model')));
    await other.activate('main', version.digest, ALL);
    await other.close();
    at.engine.held.clear();
    at.engine.model.digest = own;
    const back = await open(at);
    expect(served(back)).toBe(first);
    // By its first digits, as the console shows them.
    await back.delete('main', version.digest.slice(0, 12));
    expect(filesOf(at, 'versions')).toEqual([first]);
  });

  it('knows who pushed, and reads a state from before that was kept', async () => {
    const at = world();
    const adapters = await open(at);
    const { version } = await adapters.push(partsOf(fakePush('main', 'first')), 'ann');
    expect(version.pushedBy).toBe('ann');
    await adapters.close();
    const after = await open(at);
    expect(after.find('main', version.digest).pushedBy).toBe('ann');
    await after.close();
    const file = join(at.path, 'registry.json');
    const without = readFileSync(file, 'utf8')
      .replace(/"pushedBy": "ann",\s*/, '')
      .replace(/"format": 2,\s*"checksum": "[^"]*"/, '"format": 1');
    expect(without).not.toContain('pushedBy');
    writeFileSync(file, without);
    expect((await open(at)).find('main', version.digest).pushedBy).toBe('');
  });

  it('is refused in a folder that another process has, or with a state not readable', async () => {
    const at = world();
    const adapters = await open(at);
    expect(await refusal(open(at))).toBe('STORE_INVALID adapters.path');
    await adapters.close();
    rmSync(join(at.path, 'registry.copy.json'));
    writeFileSync(join(at.path, 'registry.json'), '{"format": 1, "versions": [{}]}');
    expect(await refusal(open(at))).toBe('ADAPTER_CORRUPT');
    // The refused start has not kept the folder.
    writeFileSync(join(at.path, 'registry.json'), '{"format": 1, "versions": []}');
    await open(at);
  });

  it('is exact with one file damaged or missing, and keeps all versions with none', async () => {
    const at = world();
    const adapters = await open(at);
    const { version } = await adapters.push(partsOf(fakePush('main', 'first')), 'ann');
    await adapters.close();
    const files = ['registry.json', 'registry.copy.json'].map((name) => join(at.path, name));
    for (const file of files) {
      for (const damage of ['', '{"format": 2, "versions": []}', null]) {
        if (damage === null) rmSync(file);
        else writeFileSync(file, damage);
        const again = await open(at);
        expect(again.find('main', version.digest)).toMatchObject({ pushedBy: 'ann' });
        await again.close();
        expect(readFileSync(file, 'utf8')).toContain(version.digest);
      }
    }
    for (const file of files) rmSync(file);
    for (let start = 0; start < 2; start++) {
      await expect(open(at)).rejects.toMatchObject({
        code: 'ADAPTER_CORRUPT',
        message: expect.stringContaining('npm run repair'),
      });
    }
    expect(readdirSync(join(at.path, 'versions'))).toEqual([version.digest]);
    const wanted = { folder: at.path, name: 'main', baseModel: 'fake-model', apply: true };
    const repair = await repairRegistry(wanted);
    expect(repair).toMatchObject({ whole: [version.digest], damaged: [] });
    const repaired = await open(at);
    expect(repaired.find('main', version.digest).state).toBe('received');
    const again = await repaired.push(partsOf(fakePush('main', 'first')), 'ann');
    expect(again).toMatchObject({ isKnown: true, version: { state: 'validated' } });
  });

  it('takes no version on a disk below its reserve, which shows until there is room', async () => {
    const at = world();
    let free = 0;
    const disk = { ...FILE_SYSTEM, freeBytes: async () => free };
    const adapters = await open(at, disk);
    const push = () => adapters.push(partsOf(fakePush('main', 'first')));
    expect(await refusal(push())).toBe('STORE_FULL disk.reserveBytes');
    expect(adapters.condition()).toMatchObject({ state: 'degraded' });
    free = Number.MAX_SAFE_INTEGER;
    await adapters.lookAtDisk();
    expect(adapters.condition()).toEqual({ state: 'ok', reason: '' });
    await push();
  });
});
