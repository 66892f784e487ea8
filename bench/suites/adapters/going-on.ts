import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Adapters, fetchedParts } from '@tessera/adapter';
import { loadConfig } from '@tessera/config';
import { createRecallRuntime, type RecallAnswer, type RecallRuntime } from '@tessera/recall';
import { NO_TRACING } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import { runtimeOptions } from '../../../apps/standalone/src/runtime-options.js';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';

const NAME = 'main';
const FINETUNED = 'test/fixtures/finetuned';
const MODEL = 'models/demo';
/** Of what the fixture's adapter adds to the base model: a trainer's way in versions. */
const SHARES = [0.7, 0.8, 0.9, 1];
const BEST = 50;
const QUICK_USERS = 8;
const FULL_USERS = 120;
const BUDGET_US = 120e6;
const PERCENT = 100;

interface Pair {
  readonly kept: number;
  readonly scoreChange: number;
}

/** Items of the best ones that are in both, and how far their scores are apart. */
function compared(one: RecallAnswer, other: RecallAnswer): Pair {
  const scores = new Map(one.items.map(({ itemId, score }) => [itemId, score]));
  const both = other.items.filter(({ itemId }) => scores.has(itemId));
  const changes = both.map(({ itemId, score }) => Math.abs(score - (scores.get(itemId) ?? score)));
  const most = Math.max(one.items.length, other.items.length, 1);
  return { kept: both.length / most, scoreChange: Math.max(0, ...changes) };
}

/**
 * Gain for users who go on with keys and values of earlier versions of an adapter, one to
 * three versions back, against the same version on its own; beside it what the versions themselves
 * change. The demo's model, and shares of an adapter that was trained on behaviours as versions.
 */
export async function goingOn({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const found: Measurement[] = [];
  for (let back = 1; back < SHARES.length; back += 1) {
    say(`keys and values ${back} versions back`);
    found.push(...(await measured(back, quick ? QUICK_USERS : FULL_USERS)));
  }
  return found;
}

async function measured(back: number, users: number): Promise<Measurement[]> {
  const folder = temporaryFolder({});
  const { config } = loadConfig({
    environment: {
      TESSERA_MODEL_PATH: MODEL,
      TESSERA_KV_DISK_BYTES: '0',
      TESSERA_BEHAVIOURS_STORE: 'file',
      TESSERA_USERS_PATH: join(MODEL, 'users.json'),
      TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'catalogue'),
      TESSERA_CATALOGUE_CHANGES_PATH: '',
      TESSERA_ADAPTERS_PATH: join(folder.path, 'adapters'),
      TESSERA_ADAPTERS_KV_VERSIONS_BACK: String(back),
    },
  });
  const runtime = await createRecallRuntime(
    runtimeOptions(config, NO_TRACING, {
      onProgress: () => undefined,
      onCompacted: () => undefined,
      onUndeclared: () => undefined,
      onUnusableProfile: () => undefined,
      onAdapterEvent: () => undefined,
    }),
  );
  try {
    return await new Succession(runtime, folder.path, users).measure(back);
  } finally {
    await runtime.close();
    folder.remove();
  }
}

class Succession {
  private readonly adapters: Adapters;

  constructor(
    private readonly runtime: RecallRuntime,
    private readonly folder: string,
    private readonly users: number,
  ) {
    if (runtime.operations.adapters === undefined) throw new Error('the bench needs adapters');
    this.adapters = runtime.operations.adapters;
  }

  async measure(back: number): Promise<Measurement[]> {
    const shares = SHARES.slice(-1 - back);
    await this.switchTo(shares[0] as number);
    const before = await this.everybody();
    for (const share of shares.slice(1)) await this.switchTo(share);
    const heirs = await this.everybody();
    const exact = await this.everybody(true);
    const kv = heirs.map((answer) => answer.kv);
    if (
      kv.some(({ inheritedTokens, versionsBack }) => inheritedTokens > 0 && versionsBack !== back)
    ) {
      throw new Error(`expected keys and values of ${back} versions back`);
    }
    const inherited = kv.reduce((sum, { inheritedTokens }) => sum + inheritedTokens, 0);
    const asked = heirs.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
    const near = `demo, ${this.users} users, ${back} ${back === 1 ? 'version' : 'versions'} back`;
    const row = (name: string, value: number, unit: string): Measurement => ({
      name: `${near}: ${name}`,
      value,
      unit,
      bar: null,
    });
    const rows = (what: string, one: readonly RecallAnswer[]) => {
      const pairs = one.map((answer, i) => compared(answer, exact[i] as RecallAnswer));
      const kept = pairs.map((pair) => pair.kept * PERCENT);
      return [
        row(`${what}: of the best ${BEST} in common, mean`, mean(kept), '%'),
        row(`${what}: the same, least`, Math.min(...kept), '%'),
        row(
          `${what}: largest change of a score`,
          Math.max(...pairs.map((p) => p.scoreChange)),
          'nats',
        ),
      ];
    };
    return [
      row('tokens of prompts gone on with', (PERCENT * inherited) / asked, '%'),
      ...rows('going on', heirs),
      ...rows('staying with that version', before),
    ];
  }

  private async switchTo(share: number): Promise<void> {
    const location = `peft-${share}`;
    writeShare(join(this.folder, location), share);
    const announced = { location, name: NAME, baseModel: this.runtime.facts.summary.model.digest };
    const parts = fetchedParts(this.folder, { ...announced, sha256: {} });
    const { version } = await this.adapters.push(parts);
    const wanted = { share: 1, isCompared: false, isWarmed: false };
    await this.adapters.activate(NAME, version.digest, wanted);
  }

  private async everybody(isOwn = false): Promise<RecallAnswer[]> {
    const answers: RecallAnswer[] = [];
    for (let user = 1; user <= this.users; user += 1) {
      const request = {
        requestId: '',
        userId: String(user),
        profile: {},
        scene: {},
        resultCount: BEST,
        widths: [],
        itemsPerSid: 0,
        skipUnknownItems: false,
      };
      const context = { signal: new AbortController().signal, budgetUs: BUDGET_US, isOwn };
      answers.push(await this.runtime.serving.recall(request, context));
    }
    return answers;
  }
}

/** The fixture's adapter, of which a share is added. */
function writeShare(path: string, share: number): void {
  const config = JSON.parse(readFileSync(join(FINETUNED, 'adapter_config.json'), 'utf8')) as {
    readonly lora_alpha: number;
  };
  mkdirSync(path);
  const scaled = { ...config, lora_alpha: config.lora_alpha * share };
  writeFileSync(join(path, 'adapter_config.json'), JSON.stringify(scaled));
  const weights = 'adapter_model.safetensors';
  copyFileSync(join(FINETUNED, weights), join(path, weights));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
