/**
 * A whole service whose data lie on a disk of their own that is filled and freed while it serves:
 * recalls go on, writes are refused by name, /health says which store stopped, nothing that was
 * acknowledged is lost, also over kill -9. `LONG_DISK_CYCLES` says how often (npm run test:long).
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TesseraClient } from '../../libs/edge/client/src/index.js';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { CatalogueClient } from '../../tools/served/catalogue-client.js';
import { SMALL, writeRandomModel } from './random-model.js';
import { type Program, Service } from './service.js';

const CYCLES = Number(process.env.LONG_DISK_CYCLES ?? '2');
const CALL_MS = 5000;
/** After space is there again; the product promises 5 s on a machine of its own. */
const RECOVERED = { timeout: 60_000, interval: 50 };
const DISK_BYTES = 512 * 2 ** 20;
const STORES = ['behaviours', 'catalogue-changes', 'adapters', 'weights', 'kv-disk'] as const;
const SERVING: Program = {
  main: 'dist/apps/standalone/src/main.js',
  printed: /OpenAPI\s+http/,
};

const execute = promisify(execFile);
const folder = temporaryFolder({});
const disk = join(folder.path, 'disk');
mkdirSync(disk);
const canMount =
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk]).status === 0;
const reason = canMount ? '' : ' (skipped: expected the right to mount a tmpfs)';

/** Takes all that is free. */
function fill(): void {
  const { bavail, bsize } = statfsSync(disk);
  const piece = Buffer.alloc(2 ** 20);
  const pieces = Math.ceil((bavail * bsize) / piece.length);
  try {
    for (let i = 0; i < pieces; i++) writeFileSync(join(disk, 'ballast'), piece, { flag: 'a' });
  } catch (thrown) {
    expect((thrown as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
}

const free = () => rmSync(join(disk, 'ballast'));

describe.skipIf(!canMount)(`a service on a full disk${reason}`, () => {
  let service: Service;
  let client: TesseraClient;
  let catalogue: CatalogueClient;
  const written = new Set<string>();
  const paused = new Set<string>();

  const start = async () => {
    service = await Service.start(
      {
        TESSERA_MODEL_PATH: join(folder.path, 'model'),
        TESSERA_CATALOGUE_CACHE_PATH: join(disk, 'cache'),
        TESSERA_CATALOGUE_CHANGES_PATH: join(disk, 'changes'),
        TESSERA_BEHAVIOURS_STORE: 'embedded',
        TESSERA_BEHAVIOURS_PATH: join(disk, 'behaviours'),
        TESSERA_ADAPTERS_PATH: join(disk, 'adapters'),
        TESSERA_WEIGHTS_PATH: join(disk, 'weights'),
        TESSERA_INSPECTION_PATH: join(disk, 'inspection'),
        TESSERA_KV_PATH: join(disk, 'kv'),
        TESSERA_KV_DISK_BYTES: String(32 * 2 ** 20),
        TESSERA_DISK_RESERVE_BYTES: String(64 * 2 ** 20),
        TESSERA_LOG_LEVEL: 'silent',
      },
      [],
      SERVING,
    );
    client = new TesseraClient(service.grpcAddress);
    catalogue = new CatalogueClient(service.grpcAddress);
  };

  const append = async (userId: string) => {
    const event = { eventId: userId, itemId: '1', action: 'click', timeMs: 1000, scene: {} };
    await client.append([{ userId, ...event }], CALL_MS);
    written.add(userId);
  };

  const pause = async (itemId: string) => {
    await catalogue.call('Apply', { changes: [{ pauseItemId: itemId }] }, CALL_MS);
    paused.add(itemId);
  };

  const recalls = async () => {
    const { status, json } = await service.post({ history: ['1', '2'], resultCount: 200 });
    expect(status, JSON.stringify(json)).toBe(200);
    return (json.items as { itemId: string }[]).map(({ itemId }) => itemId);
  };

  const states = () => Promise.all(STORES.map((store) => service.stateOf(store)));

  /** Resolves with its code once the write is refused. */
  const refused = async (write: (attempt: number) => Promise<void>) => {
    for (let attempt = 0; ; attempt++) {
      try {
        await write(attempt);
      } catch (thrown) {
        const { code, message } = thrown as { code: unknown; message: string };
        return `${code} ${message}`;
      }
    }
  };

  beforeAll(async () => {
    writeRandomModel(join(folder.path, 'model'), SMALL);
    await start();
  });

  afterAll(async () => {
    client.close();
    catalogue.close();
    await service.stop();
    spawnSync('umount', [disk]);
  });

  it('refuses writes by name, serves on and recovers by itself, again and again', async () => {
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      await append(`before ${cycle}`);
      await pause(String(10 + (cycle % 50)));
      fill();
      expect(await refused((n) => append(`while ${cycle} ${n}`))).toMatch(/disk\.reserveBytes/);
      expect(await refused(() => pause(String(100 + (cycle % 50))))).toMatch(/disk\.reserveBytes/);
      await recalls();
      expect((await fetch(`${service.httpUrl}/health`)).status).toBe(200);
      await expect.poll(() => service.stateOf('behaviours'), RECOVERED).toBe('degraded');
      await expect.poll(() => service.stateOf('catalogue-changes'), RECOVERED).toBe('degraded');
      free();
      await expect.poll(states, RECOVERED).toEqual(STORES.map(() => 'ok'));
      await append(`after ${cycle}`);
      await pause(String(100 + (cycle % 50)));
    }
  });

  it('refuses an import by name, which the same command ends when there is space', async () => {
    const file = join(folder.path, 'budgets.jsonl');
    const lineOf = (item: string) =>
      JSON.stringify({ op: 'patch_attributes', item_id: item, delta: { budget: 1 } });
    const items = Array.from({ length: 20 }, (_, i) => String(i));
    writeFileSync(file, items.map((item) => `${lineOf(item)}\n`).join(''));
    const apply = () => {
      const where = ['--address', service.grpcAddress, '--resume', join(folder.path, 'applied')];
      const words = ['catalogue.js', 'apply', file, '--batch', '5', '--json', ...where];
      const [program = '', ...rest] = words;
      return execute(process.execPath, [`dist/tools/${program}`, ...rest]);
    };
    fill();
    await expect(apply()).rejects.toMatchObject({
      stderr: expect.stringMatching(/STORE_FULL: .*from line 1: .*0 changes before/s),
    });
    free();
    await expect.poll(states, RECOVERED).toEqual(STORES.map(() => 'ok'));
    const { stdout } = await apply();
    expect(JSON.parse(stdout)).toMatchObject({ applied: 20, resumed: 0 });
    const budgets = new Map<string, unknown>();
    type Page = { readonly items: readonly { itemId: string; attributes: string }[] };
    for await (const page of catalogue.stream<Page>('ListItems', {}, CALL_MS)) {
      for (const { itemId, attributes } of page.items) {
        budgets.set(itemId, JSON.parse(attributes).budget);
      }
    }
    expect(items.map((item) => budgets.get(item))).toEqual(items.map(() => 1));
  });

  it('has all that it acknowledged after kill -9 on the full disk', async () => {
    fill();
    await refused((n) => append(`last ${n}`));
    service.child.kill('SIGKILL');
    await service.ended;
    client.close();
    catalogue.close();
    free();
    await start();
    for (const userId of written) {
      const { behaviours } = await client.history(userId, 10, CALL_MS);
      expect(behaviours, userId).toHaveLength(1);
    }
    const items = await recalls();
    for (const itemId of paused) expect(items).not.toContain(itemId);
  });
});
