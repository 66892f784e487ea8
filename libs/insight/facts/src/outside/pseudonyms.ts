import { createHmac, randomBytes } from 'node:crypto';
import { MILLISECONDS_PER_DAY } from '@tessera/units';
import { KEY_BYTES, PseudonymKeys } from './pseudonym-keys.js';

const dayOf = (nowMs: number) => Math.floor(nowMs / MILLISECONDS_PER_DAY);
/** Days by which a key outlives the facts that it names, whatever the time of day. */
const SPARE_DAYS = 2;

/** Users whose pseudonyms are held in memory. */
const HELD_MAX = 100_000;

/** HMAC-SHA-256 of the user ID with the key, its first 64 bits; never 0, which is nobody. */
function pseudonymOf(userId: string, key: Buffer): string {
  const digest = createHmac('sha256', key).update(userId).digest();
  return String(digest.readBigUInt64BE() || 1n);
}

/** Random keys of users, by which facts name them; without its key nothing names a user. */
export class Pseudonyms {
  /** Pseudonyms that have been used on `heldDay`, in the order of use. */
  private readonly held = new Map<string, string>();
  private heldDay = 0;

  private constructor(
    private readonly keys: PseudonymKeys,
    private readonly nowMs: () => number,
  ) {}

  /** @param nowMs milliseconds since 1970 */
  static async open(path: string, nowMs: () => number = Date.now): Promise<Pseudonyms> {
    return new Pseudonyms(await PseudonymKeys.open(path, dayOf(nowMs())), nowMs);
  }

  /** In their order; those that are new get keys, which are on disk when it resolves. '' -> 0. */
  async of(userIds: readonly string[]): Promise<string[]> {
    const day = dayOf(this.nowMs());
    // Each day the use of a key is noted anew.
    if (day !== this.heldDay) this.held.clear();
    this.heldDay = day;
    const unknown = [...new Set(userIds)].filter((id) => id !== '' && !this.held.has(id));
    if (unknown.length > 0) await this.fetch(unknown);
    const found = userIds.map((id) => (id === '' ? '0' : (this.held.get(id) ?? '0')));
    for (const id of this.held.keys()) {
      if (this.held.size <= HELD_MAX) break;
      this.held.delete(id);
    }
    return found;
  }

  /** Undefined: there is no key, so nothing is known of the user. */
  async find(userId: string): Promise<string | undefined> {
    const [key] = await this.keys.find([userId]);
    return key && pseudonymOf(userId, key);
  }

  /** The key is overwritten when it resolves. False: there was none. */
  async forget(userId: string): Promise<boolean> {
    this.held.delete(userId);
    return this.keys.remove(userId);
  }

  /** Keys of a release before, in hexadecimal; who has one here keeps that. */
  async take(keys: readonly (readonly [userId: string, key: string])[]): Promise<void> {
    const own = new Map(keys.map(([id, key]) => [id, Buffer.from(key, 'hex')]));
    await this.keys.add(own, dayOf(this.nowMs()));
  }

  /** Keys that no fact needs any more are overwritten, some of them with each call. */
  async expire(keepMs: number): Promise<void> {
    const before = dayOf(this.nowMs() - keepMs) - SPARE_DAYS;
    if (before > 0) await this.keys.expire(before);
  }

  close(): Promise<void> {
    return this.keys.close();
  }

  private async fetch(userIds: readonly string[]): Promise<void> {
    const known = await this.keys.find(userIds);
    const used = new Map<string, Buffer>();
    userIds.forEach((id, i) => {
      const key = known[i] ?? randomBytes(KEY_BYTES);
      used.set(id, key);
      this.held.set(id, pseudonymOf(id, key));
    });
    try {
      await this.keys.add(used, this.heldDay);
    } catch (thrown) {
      for (const id of used.keys()) this.held.delete(id);
      throw thrown;
    }
  }
}
