import type { DuckDBConnection } from '@duckdb/node-api';
import { STILL_SEQ, STILL_TIME, tableDefinition } from '../domain/fact-tables.js';

/** Items of a catalogue as they are after a change. */
export interface ItemBatch {
  readonly catalogue: string;
  readonly sequence: number;
  readonly timeMs: number;
  /** JSON array of item_id, live, sid, title, attributes. */
  readonly items: string;
}

const STAGED =
  'CREATE TEMP TABLE IF NOT EXISTS staged_item ' +
  '(item_id VARCHAR, live BOOLEAN, sid VARCHAR, title VARCHAR, attributes VARCHAR)';
const SHAPE = {
  item_id: 'VARCHAR',
  live: 'BOOLEAN',
  sid: 'VARCHAR',
  title: 'VARCHAR',
  attributes: 'VARCHAR',
};
const STAGE =
  'INSERT INTO staged_item SELECT r.item_id, r.live, r.sid, r.title, r.attributes FROM ' +
  `(SELECT unnest(from_json($1, '[${JSON.stringify(SHAPE)}]')) AS r)`;
const OPEN = `v.catalogue = $1 AND v.to_seq = ${STILL_SEQ}`;
/** An item that is removed is told without what it was: that stays. */
const CHANGED =
  'CREATE OR REPLACE TEMP TABLE changed_item AS SELECT s.item_id, s.live, ' +
  "CASE WHEN s.sid = '' AND NOT s.live THEN coalesce(v.sid, '') ELSE s.sid END AS sid, " +
  "CASE WHEN s.sid = '' AND NOT s.live THEN coalesce(v.title, '') ELSE s.title END AS title, " +
  "CASE WHEN s.sid = '' AND NOT s.live THEN coalesce(v.attributes, '{}') " +
  'ELSE s.attributes END AS attributes ' +
  `FROM staged_item s LEFT JOIN state.item_version v ON v.item_id = s.item_id AND ${OPEN} ` +
  "WHERE v.item_id IS NULL OR v.live <> s.live OR (NOT (s.sid = '' AND NOT s.live) AND " +
  '(v.sid <> s.sid OR v.title <> s.title OR v.attributes <> s.attributes))';

/** The versions of items, each from one change to another. */
export class ItemVersions {
  isDirty = false;

  private constructor(private readonly connection: DuckDBConnection) {}

  static async open(connection: DuckDBConnection): Promise<ItemVersions> {
    await connection.run(tableDefinition('item_version', 'state.'));
    await connection.run(STAGED);
    const versions = new ItemVersions(connection);
    versions.isDirty = true;
    return versions;
  }

  /** Items of these that have changed get a version. */
  async apply(batch: ItemBatch): Promise<void> {
    await this.connection.run('DELETE FROM staged_item');
    await this.connection.run(STAGE, [batch.items]);
    await this.takeStaged(batch);
  }

  /** The first part of all items of a catalogue. */
  async beginAll(): Promise<void> {
    await this.connection.run('DELETE FROM staged_item');
  }

  async addAll(items: string): Promise<void> {
    await this.connection.run(STAGE, [items]);
  }

  /** Ends items that were not in the batches: they are live no more. */
  async endAll(batch: Omit<ItemBatch, 'items'>): Promise<void> {
    const { catalogue, sequence } = batch;
    const newest = await this.connection.runAndReadAll(
      'SELECT max(from_seq)::DOUBLE FROM state.item_version WHERE catalogue = $1',
      [catalogue],
    );
    // A catalogue that counts its changes anew has another history.
    if (Number(newest.getRowsJson()[0]?.[0] ?? 0) > sequence) {
      await this.connection.run('DELETE FROM state.item_version WHERE catalogue = $1', [catalogue]);
    }
    await this.connection.run(
      "INSERT INTO staged_item SELECT v.item_id, false, '', '', '' FROM state.item_version v " +
        `WHERE ${OPEN} AND v.live AND v.item_id NOT IN (SELECT item_id FROM staged_item)`,
      [catalogue],
    );
    await this.takeStaged(batch);
  }

  private async takeStaged(batch: Omit<ItemBatch, 'items'>): Promise<void> {
    const { connection } = this;
    const { catalogue, sequence, timeMs } = batch;
    const reader = await connection.run(CHANGED, [catalogue]);
    void reader;
    const values = [catalogue, BigInt(sequence), BigInt(timeMs)];
    const changed =
      `catalogue = $1 AND to_seq = ${STILL_SEQ} AND ` +
      'item_id IN (SELECT item_id FROM changed_item)';
    await connection.run('BEGIN');
    try {
      await connection.run(
        `DELETE FROM state.item_version WHERE ${changed} AND from_seq >= $2::BIGINT`,
        values.slice(0, 2),
      );
      await connection.run(
        'UPDATE state.item_version SET to_seq = $2::BIGINT, ' +
          `to_time = make_timestamp_ms($3::BIGINT) WHERE ${changed}`,
        values,
      );
      const inserted = await connection.run(
        'INSERT INTO state.item_version SELECT $1, item_id, $2::BIGINT, ' +
          `${STILL_SEQ}, make_timestamp_ms($3::BIGINT), TIMESTAMP '${STILL_TIME}', live, sid, ` +
          'title, attributes FROM changed_item',
        values,
      );
      await connection.run('COMMIT');
      if (inserted.rowsChanged > 0) this.isDirty = true;
    } catch (thrown) {
      await connection.run('ROLLBACK');
      throw thrown;
    }
  }
}
