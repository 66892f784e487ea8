import { parseJson, TesseraError } from '@tessera/errors';
import { readRegular, textOf } from '@tessera/files';
import { z } from 'zod';
import type { ServedAdapter } from './domain/adapter-choice.js';
import type { AdapterProbe, ProbeAnswer, ProbeUser } from './domain/adapter-probe.js';
import { overlapOf } from './domain/canary-comparison.js';

const FILE_BYTES_MAX = 64 << 20;

const GOLDEN_USERS_MAX = 1024;

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
  /** Number of sampled users, where there is no file. */
  readonly userCount: number;
}

/** Rejects with ADAPTER_INVALID where the file is no golden set. */
async function usersOf(path: string): Promise<readonly ProbeUser[]> {
  try {
    const bytes = await readRegular(path, FILE_BYTES_MAX);
    return documentSchema.parse(parseJson(textOf(path, bytes, 'CONFIG_INVALID')));
  } catch (cause) {
    const message = `adapters.goldenPath: ${path}: expected a list of users and histories`;
    const reason = cause instanceof Error ? cause.message.slice(0, 400) : String(cause);
    throw new TesseraError('CONFIG_INVALID', `${message}, got: ${reason}`, {
      field: 'adapters.goldenPath',
      cause,
    });
  }
}

/** Users who are asked for, for each that counts: some are gone by now, or their ads. */
const CANDIDATES_PER_USER = 8;

/** A refusal that says nothing of the version: the user is gone, or the ads of the history are. */
function isOfTheUser({ code, field }: TesseraError): boolean {
  if (code === 'USER_NOT_FOUND' || code === 'ITEM_NOT_FOUND') return true;
  const isField = field === 'userId' || field?.startsWith('history') === true;
  return code === 'REQUEST_INVALID' && isField;
}

const shownUser = ({ userId, history }: ProbeUser) =>
  (userId ?? history?.join(' ') ?? '').slice(0, 80);

/**
 * The users that every version has to answer before it serves anybody. Those that nobody can answer
 * for any more are passed over: ads end and users leave every day.
 */
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
    await this.each(async (user) => {
      const answer = await this.answer(user, adapter);
      if (answer === undefined) return false;
      if (answer.itemIds.length > 0) return true;
      const base = await this.answer(user, undefined);
      if (base === undefined || base.itemIds.length === 0) return true;
      const message =
        `golden set: expected items for '${shownUser(user)}', as of the base model, got none; ` +
        'if that is right for this user, name others in adapters.goldenPath';
      throw new TesseraError('ADAPTER_INVALID', message, { field: 'goldenSet' });
    });
  }

  /**
   * Mean share of items that the answers of two versions have in common; undefined without users.
   */
  async overlap(
    adapter: ServedAdapter,
    other: ServedAdapter | undefined,
  ): Promise<number | undefined> {
    const overlaps: number[] = [];
    await this.each(async (user) => {
      const ours = await this.answer(user, adapter);
      const theirs = await this.answer(user, other);
      if (ours === undefined || theirs === undefined) return false;
      overlaps.push(overlapOf(ours.itemIds, theirs.itemIds));
      return true;
    });
    if (overlaps.length === 0) return undefined;
    return overlaps.reduce((sum, overlap) => sum + overlap, 0) / overlaps.length;
  }

  /** All users of the file; or of those that the service knows, until enough have counted. */
  private async each(act: (user: ProbeUser) => Promise<boolean>): Promise<void> {
    const { path, userCount } = this.settings;
    const wanted = path === '' ? userCount : GOLDEN_USERS_MAX;
    let counted = 0;
    for (const user of await this.candidates()) {
      if (counted >= wanted) return;
      if (await act(user)) counted += 1;
    }
  }

  private async candidates(): Promise<readonly ProbeUser[]> {
    const { path, userCount } = this.settings;
    if (path !== '') return usersOf(path);
    const userIds = await this.probe.sampleUserIds(userCount * CANDIDATES_PER_USER);
    return userIds.map((userId) => ({ userId }));
  }

  private async answer(
    user: ProbeUser,
    adapter: ServedAdapter | undefined,
  ): Promise<ProbeAnswer | undefined> {
    try {
      return await this.probe.recall(user, adapter, new AbortController().signal);
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (isOfTheUser(error)) return undefined;
      const message = `golden set: ${shownUser(user)}: ${error.message}`;
      throw new TesseraError(error.code, message, { field: 'goldenSet', cause: thrown });
    }
  }
}
