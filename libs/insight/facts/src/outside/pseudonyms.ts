import { createHmac, randomBytes } from 'node:crypto';
import { MILLISECONDS_PER_DAY } from '@tessera/units';
import { KEY_BYTES, PseudonymKeys } from './pseudonym-keys.js';
import { type SealedText, sealed, unsealed } from './seals.js';

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

/** No user has an ID that begins so. */
const sealName = (pseudonym: string) => `\0${pseudonym}`;

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
    return new Pseudonyms(await PseudonymKeys.open(path), nowMs);
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

  /** The keys are overwritten when it resolves. False: there was none. */
  async forget(userId: string): Promise<boolean> {
    const pseudonym = await this.find(userId);
    // First: without the pseudonym it would not be found any more.
    if (pseudonym !== undefined) await this.keys.remove(sealName(pseudonym));
    this.held.delete(userId);
    return this.keys.remove(userId);
  }

  /** Texts of users by their pseudonyms, sealed with keys that go with those of the users. */
  async seal(pseudonyms: readonly string[], texts: readonly (readonly string[])[]) {
    const names = pseudonyms.map(sealName);
    const known = await this.keys.find(names);
    const used = new Map<string, Buffer>();
    const keys = names.map((name, i) => {
      const key = known[i] ?? used.get(name) ?? randomBytes(KEY_BYTES);
      used.set(name, key);
      return key;
    });
    await this.keys.add(used, dayOf(this.nowMs()));
    return keys.map((key, i) => (texts[i] ?? []).map((text) => sealed(text, key)));
  }

  /** Texts that were sealed, in their order; null: the user was erased, or came no more. */
  async unseal(texts: readonly SealedText[]): Promise<(string | null)[]> {
    const keys = await this.keys.find(texts.map(({ pseudonym }) => sealName(pseudonym)));
    return texts.map(({ bytes }, i) => unsealed(bytes, keys[i]));
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
