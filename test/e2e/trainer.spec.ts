/**
 * The trainer against the built service, in commands as its README has them: behaviours are asked
 * of the service, an adapter is fine-tuned on them, pushed and activated, and rolled back.
 */

import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TesseraClient } from '@tessera/client';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdapterClient } from '../../tools/served/adapter-client.js';
import { DEMO } from './random-adapter.js';
import { Service } from './service.js';
import { pythonWith } from './trainer-python.js';

const CALL_MS = 60_000;
/** PyTorch alone takes a while to load where much else is done. */
const LONG_MS = 600_000;
const LEARNT_USERS = 60;
const CLICKS = 4;
const CLICK_GAP_MS = 60_000;
/** Asked for by nobody's behaviours more than by others'. */
const CATEGORY = 'pets';

const PYTHON = pythonWith(['torch', 'peft', 'tessera_client']);
if (PYTHON === undefined) {
  const how = 'pip install -r trainer/requirements.txt in .venv, or TRAINER_PYTHON';
  console.log(`trainer.spec: skipped, PyTorch, PEFT or tessera_client is absent (${how})`);
}

interface Answer {
  readonly items: readonly { readonly itemId: string; readonly score: number }[];
}

describe.skipIf(PYTHON === undefined)('the trainer', () => {
  const folder = temporaryFolder({});
  let service: Service;
  let behaviours: TesseraClient;
  let adapters: AdapterClient;

  beforeAll(async () => {
    service = await Service.start({
      TESSERA_MODEL_PATH: DEMO,
      TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
      TESSERA_ADAPTERS_PATH: join(folder.path, 'adapters'),
      TESSERA_BEHAVIOURS_STORE: 'embedded',
      TESSERA_BEHAVIOURS_PATH: join(folder.path, 'behaviours'),
    });
    behaviours = new TesseraClient(service.grpcAddress);
    adapters = new AdapterClient(service.grpcAddress);
  });
  afterAll(async () => {
    behaviours?.close();
    adapters?.close();
    await service?.stop();
    folder.remove();
  });

  const items = readFileSync(join(DEMO, 'catalogue.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { item_id: string; attributes: { category: string } })
    .filter(({ attributes }) => attributes.category === CATEGORY)
    .map(({ item_id }) => String(item_id));

  async function trainer(...words: string[]): Promise<string> {
    const python = PYTHON as string;
    const { stdout } = await promisify(execFile)(python, ['-m', 'trainer', ...words]);
    return stdout;
  }

  /** Of users of whom nothing new is learnt. */
  const answers = (): Promise<Answer[]> =>
    Promise.all(
      Array.from({ length: 30 }, async (_, i) => {
        const { json } = await service.post({ userId: String(101 + i) });
        return json as unknown as Answer;
      }),
    );
  const wanted = (all: readonly Answer[]) =>
    all.flatMap((answer) => answer.items).filter(({ itemId }) => items.includes(itemId)).length;
  const shown = (all: readonly Answer[]) =>
    all.map((answer) => answer.items.map(({ itemId, score }) => [itemId, score]));

  it(
    'learns from what the service knows of its users, and the service recalls accordingly',
    async () => {
      const before = await answers();
      const users = Array.from({ length: LEARNT_USERS }, (_, i) => String(i + 1));
      const events = users.flatMap((userId, user) =>
        Array.from({ length: CLICKS }, (_, click) => ({
          userId,
          itemId: items[(user * CLICKS + click) % items.length] as string,
          eventId: `${userId}-${click}`,
          action: 'click',
          timeMs: Date.now() - (CLICKS - click) * CLICK_GAP_MS,
          scene: {},
        })),
      );
      await behaviours.append(events, CALL_MS);
      writeFileSync(join(folder.path, 'users'), users.join('\n'));

      const { grpcAddress: address } = service;
      const out = join(folder.path, 'peft');
      const learn = ['--model', DEMO, '--address', address, '--users', join(folder.path, 'users')];
      const flags = ['--validate', '0', '--rank', '2', '--out', out];
      const printed = await trainer('finetune', ...learn, ...flags);
      expect(printed).toContain(`${events.length} behaviours, loss`);
      const { versions } = (await (await fetch(`${service.httpUrl}/health`)).json()) as {
        versions: { model: string };
      };
      const { revision } = JSON.parse(readFileSync(join(out, 'adapter_config.json'), 'utf8'));
      expect(revision).toBe(versions.model);
      const push = ['push', out, '--address', address, '--share', '1'];
      const verdict =
        /^valid: main [0-9a-f]{64}\n {2}rank 2,[\s\S]*activated for 100% of the users/;
      expect(await trainer(...push)).toMatch(verdict);

      expect(wanted(await answers())).toBeGreaterThan(2 * wanted(before));
      await adapters.call('Rollback', { name: 'main' }, CALL_MS);
      expect(shown(await answers())).toEqual(shown(before));
    },
    LONG_MS,
  );
});
