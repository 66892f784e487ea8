import { readFile } from 'node:fs/promises';
import { TesseraError } from '@tessera/errors';
import { z } from 'zod';
import type { ServedAdapter } from './domain/adapter-choice.js';
import type { AdapterProbe, ProbeAnswer, ProbeUser } from './domain/adapter-probe.js';
import { overlapOf } from './domain/canary-comparison.js';

export const GOLDEN_USERS_MAX = 1024;

const documentSchema = z
  .array(
    z.union([
      z.strictObject({ userId: z.string().min(1) }),
      z.strictObject({ history: z.array(z.string().min(1)).min(1) }),
    ]),
  )
  .min(1)
  .max(GOLDEN_USERS_MAX);

export interface GoldenSettings {
  /** JSON list of {"userId"} and {"history"}; '' for the first users that the service knows. */
  readonly path: string;
  /** Of those, where there is no file. */
  readonly userCount: number;
}

/** Rejects with ADAPTER_INVALID where the file is no golden set. */
async function usersOf(path: string): Promise<readonly ProbeUser[]> {
  try {
    return documentSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    const message = `adapters.goldenPath: ${path}: expected a list of users and histories`;
    const reason = cause instanceof Error ? cause.message.slice(0, 400) : String(cause);
    throw new TesseraError('CONFIG_INVALID', `${message}, came: ${reason}`, {
      field: 'adapters.goldenPath',
      cause,
    });
  }
}

/** Answers that say nothing of the version. */
const OF_THE_USER: ReadonlySet<string> = new Set(['USER_NOT_FOUND', 'ITEM_NOT_FOUND']);

/** The users that every version has to answer before it serves anybody. */
export class GoldenSet {
  constructor(
    private readonly settings: GoldenSettings,
    private readonly probe: AdapterProbe,
  ) {}

  /** Reads the file, so that a mistake in it shows at the start. */
  async check(): Promise<void> {
    if (this.settings.path !== '') await usersOf(this.settings.path);
  }

  /**
   * The version answers, and with something where the base model does. Rejects with ADAPTER_INVALID
   * naming the user, MODEL_NOT_FINITE, or what keeps it from answering at all.
   */
  async trial(adapter: ServedAdapter): Promise<void> {
    for (const user of await this.users()) {
      const answer = await this.answer(user, adapter);
      if (answer === undefined || answer.itemIds.length > 0) continue;
      const base = await this.answer(user, undefined);
      if (base === undefined || base.itemIds.length === 0) continue;
      const who = user.userId ?? user.history?.join(' ').slice(0, 80);
      const message = `golden set: expected items for '${who}', as of the base model, came none`;
      throw new TesseraError('ADAPTER_INVALID', message, { field: 'goldenSet' });
    }
  }

  /**
   * Mean share of items that the answers of two versions have in common; undefined without users.
   */
  async overlap(
    adapter: ServedAdapter,
    other: ServedAdapter | undefined,
  ): Promise<number | undefined> {
    const overlaps: number[] = [];
    for (const user of await this.users()) {
      const ours = await this.answer(user, adapter);
      const theirs = await this.answer(user, other);
      if (ours !== undefined && theirs !== undefined) {
        overlaps.push(overlapOf(ours.itemIds, theirs.itemIds));
      }
    }
    if (overlaps.length === 0) return undefined;
    return overlaps.reduce((sum, overlap) => sum + overlap, 0) / overlaps.length;
  }

  private async users(): Promise<readonly ProbeUser[]> {
    const { path, userCount } = this.settings;
    if (path !== '') return usersOf(path);
    const userIds = await this.probe.sampleUserIds(userCount);
    return userIds.map((userId) => ({ userId }));
  }

  private async answer(
    user: ProbeUser,
    adapter: ServedAdapter | undefined,
  ): Promise<ProbeAnswer | undefined> {
    try {
      return await this.probe.recall(user, adapter, new AbortController().signal);
    } catch (thrown) {
      if (OF_THE_USER.has(TesseraError.from(thrown).code)) return undefined;
      throw thrown;
    }
  }
}
