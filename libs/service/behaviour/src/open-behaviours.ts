import { TesseraError } from '@tessera/errors';
import type { RedisSecurity } from '@tessera/redis';
import { CLOCK, MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { BehaviourEvent } from './domain/behaviour-event.js';
import type { BehaviourLog } from './domain/behaviour-log.js';
import type { BehaviourStore } from './domain/behaviour-store.js';
import type { User } from './domain/parse-users.js';
import { parseRetention, type Retention } from './domain/retention.js';
import type { ServedWith } from './domain/seed-mark.js';
import { EmbeddedBehaviourLog } from './outside/embedded-behaviour-log.js';
import { MemoryBehaviourStore } from './outside/memory-behaviour-store.js';
import { RedisBehaviourLog } from './outside/redis-behaviour-log.js';
import { removeSeedMark, writeSeedMark } from './outside/seed-mark.js';
import { loadBehaviourStore } from './outside/users-file.js';

const SEED_EVENTS_PER_APPEND = 5000;
const NOTHING = async () => undefined;

export interface BehaviourOptions {
  /** `file`: the users file alone, read-only. */
  readonly store: 'file' | 'embedded' | 'redis';
  /** users.json or a file of sequences, .gz too; '' for none. Seeds a store that is empty. */
  readonly usersPath: string;
  /** Folder of the embedded store. */
  readonly path: string;
  /** Source of the first users of an embedded store; left out: no mark is kept. */
  readonly servedWith?: ServedWith;
  /** Free bytes of its file system below which it takes no writes; left out: 0. */
  readonly reserveBytes?: number;
  /** Address of Redis: `host:port`, or several of one cluster separated by commas. */
  readonly redis: string;
  /** Left out: no password and no TLS. */
  readonly redisSecurity?: RedisSecurity;
  readonly keyPrefix: string;
  readonly retention: Retention;
}

/** Behaviours of the configuration, where retention is text. @throws TesseraError CONFIG_INVALID */
export function behaviourOptions(
  settings: Omit<BehaviourOptions, 'retention' | 'usersPath' | 'reserveBytes'> & {
    readonly retention: string;
  },
  usersPath: string,
  { reserveBytes }: { readonly reserveBytes: number },
): BehaviourOptions {
  return { ...settings, retention: parseRetention(settings.retention), usersPath, reserveBytes };
}

export type BehaviourProgress = (stage: string, done: number, total: number) => void;

/** The users of a file alone; '' for none. */
export function usersOfFile(usersPath: string): BehaviourOptions {
  const retention = parseRetention('*=1');
  return {
    store: 'file',
    usersPath,
    path: '',
    reserveBytes: 0,
    redis: '',
    keyPrefix: '',
    retention,
  };
}

export interface OpenBehaviours {
  readonly store: BehaviourStore;
  /** Log of behaviours, where they can be appended. */
  readonly log: BehaviourLog | undefined;
  /**
   * Writes the users of the file into a store that was empty. Apart from opening, since a start
   * that fails by its catalogue or model must leave no users behind.
   */
  takeOverUsers(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the store and, where it is empty, reads the users of the file. Rejects with
 * BEHAVIOUR_INVALID (the file), STORE_INVALID, STORE_CORRUPT or STORE_UNAVAILABLE.
 */
export async function openBehaviours(
  options: BehaviourOptions,
  onProgress: BehaviourProgress,
): Promise<OpenBehaviours> {
  const { usersPath } = options;
  if (options.store === 'file') {
    onProgress('users', 0, 1);
    const users = await usersOf(usersPath);
    onProgress('users', 1, 1);
    return { store: users, log: undefined, takeOverUsers: NOTHING, close: NOTHING };
  }
  const log = await openLog(options);
  try {
    const isEmbedded = options.store === 'embedded';
    const isBeginning = (isEmbedded || usersPath !== '') && (await isEmpty(log));
    if (isEmbedded && isBeginning) await removeSeedMark(options.path);
    const users = isBeginning && usersPath !== '' ? await usersOf(usersPath) : undefined;
    const takeOverUsers =
      users === undefined ? NOTHING : () => begin(log, users, options, onProgress);
    return { store: log, log, takeOverUsers, close: () => log.close() };
  } catch (error) {
    await log.close();
    throw error;
  }
}

function openLog(options: BehaviourOptions) {
  const { store, path, reserveBytes = 0, redis, redisSecurity: security } = options;
  const { keyPrefix, retention } = options;
  const kept = { retention, nowMs: CLOCK.earliestMs, latestMs: CLOCK.latestMs };
  return store === 'redis'
    ? RedisBehaviourLog.open({ address: redis, security, keyPrefix, ...kept })
    : EmbeddedBehaviourLog.open({ path, reserveBytes, ...kept });
}

function usersOf(path: string): Promise<MemoryBehaviourStore> {
  return path === ''
    ? Promise.resolve(new MemoryBehaviourStore(new Map()))
    : loadBehaviourStore(path);
}

/** A store that is away is not known to be empty. */
async function isEmpty(log: BehaviourLog): Promise<boolean> {
  try {
    return (await log.userIds(1)).length === 0;
  } catch (thrown) {
    if (TesseraError.from(thrown).code === 'STORE_UNAVAILABLE') return false;
    throw thrown;
  }
}

/** The mark first: a seeding that breaks off leaves users behind. */
async function begin(
  log: BehaviourLog,
  users: MemoryBehaviourStore,
  { store, path, usersPath, servedWith }: BehaviourOptions,
  onProgress: BehaviourProgress,
): Promise<void> {
  if (store === 'embedded' && servedWith !== undefined) {
    await writeSeedMark(path, usersPath, servedWith);
  }
  await seed(log, users, onProgress);
}

/**
 * Users one after another in the order of the file, so that a seeding that broke off leaves whole
 * users behind. Events are named by their place in the file.
 */
async function seed(
  log: BehaviourLog,
  users: MemoryBehaviourStore,
  onProgress: BehaviourProgress,
): Promise<void> {
  let events: BehaviourEvent[] = [];
  let done = 0;
  for (const [userId, user] of users.entries()) {
    events.push(...eventsOf(userId, user));
    if (Object.keys(user.profile).length > 0) await log.putProfile(userId, user.profile);
    done += 1;
    if (events.length < SEED_EVENTS_PER_APPEND && done < users.userCount) continue;
    await log.append(events);
    events = [];
    onProgress('users', done, users.userCount);
  }
}

/** Behaviours of one time are kept in the order of the file by the event ID. */
function eventsOf(userId: string, { behaviours }: User): BehaviourEvent[] {
  const digits = String(behaviours.length).length;
  return behaviours.map(({ itemId, action, time }, index) => ({
    userId,
    eventId: `seed/${String(index).padStart(digits, '0')}`,
    itemId,
    action,
    timeMs: Math.max(0, Math.round(time * MILLISECONDS_PER_SECOND)),
    scene: {},
  }));
}
