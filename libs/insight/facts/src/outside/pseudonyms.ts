import { createHmac, randomBytes } from 'node:crypto';
import type { DuckDBConnection } from '@duckdb/node-api';

const KEY_BYTES = 16;
/** Users whose pseudonyms are held in memory. */
const HELD_MAX = 100_000;

const DEFINITION =
  'CREATE TABLE IF NOT EXISTS state.pseudonym (user_id VARCHAR PRIMARY KEY, key VARCHAR)';

/** HMAC-SHA-256 of the user ID with the key, its first 64 bits; never 0, which is nobody. */
function pseudonymOf(userId: string, key: string): string {
  const digest = createHmac('sha256', Buffer.from(key, 'hex')).update(userId).digest();
  return String(digest.readBigUInt64BE() || 1n);
}

/** Random keys of users, by which facts name them; without its key nothing names a user. */
export class Pseudonyms {
  /** In the order of use. */
  private readonly held = new Map<string, string>();

  private constructor(private readonly connection: DuckDBConnection) {}

  static async open(connection: DuckDBConnection): Promise<Pseudonyms> {
    await connection.run(DEFINITION);
    return new Pseudonyms(connection);
  }

  /** In their order; those that are new get keys, which are on disk when it resolves. '' -> 0. */
  async of(userIds: readonly string[]): Promise<string[]> {
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
    const [key] = await this.keysOf([userId]);
    return key && pseudonymOf(userId, key[1]);
  }

  async forget(userId: string): Promise<boolean> {
    this.held.delete(userId);
    const sql = 'DELETE FROM state.pseudonym WHERE user_id = $1';
    return (await this.connection.run(sql, [userId])).rowsChanged > 0;
  }

  private async fetch(userIds: readonly string[]): Promise<void> {
    const known = new Map(await this.keysOf(userIds));
    const fresh = userIds
      .filter((id) => !known.has(id))
      .map((id) => [id, randomBytes(KEY_BYTES).toString('hex')] as const);
    if (fresh.length > 0) {
      const rows = '(SELECT unnest(from_json($1, \'[["VARCHAR"]]\')) AS r)';
      await this.connection.run(`INSERT INTO state.pseudonym SELECT r[1], r[2] FROM ${rows}`, [
        JSON.stringify(fresh),
      ]);
    }
    for (const [id, key] of [...known, ...fresh]) this.held.set(id, pseudonymOf(id, key));
  }

  private async keysOf(userIds: readonly string[]): Promise<(readonly [string, string])[]> {
    const wanted = '(SELECT unnest(from_json($1, \'["VARCHAR"]\')))';
    const reader = await this.connection.runAndReadAll(
      `SELECT user_id, key FROM state.pseudonym WHERE user_id IN ${wanted}`,
      [JSON.stringify(userIds)],
    );
    return reader.getRowsJson().map(([id, key]) => [String(id), String(key)]);
  }
}
