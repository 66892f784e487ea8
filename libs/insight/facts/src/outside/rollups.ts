import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { hourAt, rolledHours, stampOf } from '../domain/fact-files.js';
import { parquetOf, quoted, tableFiles, tableFolder, writeWhole } from './fact-folder.js';

const HOUR_LENGTH = 11;

/** Rows of `recall_fact` -> those of `item_hour`; `recalls` and `versions` name the sources. */
function rollupQuery(recalls: string, versions: string): string {
  return (
    "WITH shown AS (SELECT date_trunc('hour', time) AS hour, catalogue, scene, adapter, model, " +
    'edge, catalogue_seq, unnest(item_ids) AS item_id, ' +
    `unnest(range(1, len(item_ids) + 1)) AS rank FROM ${recalls} WHERE code = 'OK'), ` +
    'counted AS (SELECT hour, catalogue, scene, adapter, model, edge, catalogue_seq, item_id, ' +
    'count(*) AS recalls, sum(rank) AS rank_sum FROM shown ' +
    'GROUP BY hour, catalogue, scene, adapter, model, edge, catalogue_seq, item_id) ' +
    'SELECT c.hour, c.catalogue, c.scene, c.adapter, c.model, c.edge, c.item_id, ' +
    'coalesce(v.from_seq, -1)::BIGINT AS version_seq, sum(c.recalls)::UBIGINT AS recalls, ' +
    'sum(c.rank_sum)::UBIGINT AS rank_sum FROM counted c ' +
    `LEFT JOIN ${versions} v ON v.catalogue = c.catalogue AND v.item_id = c.item_id ` +
    'AND v.from_seq <= c.catalogue_seq AND c.catalogue_seq < v.to_seq GROUP BY ALL'
  );
}

/** Writes `item_hour` of each hour that is over, before its minutes become one file. */
export class Rollups {
  constructor(
    private readonly connection: DuckDBConnection,
    private readonly folder: string,
    private readonly node: string,
  ) {}

  async write(nowMs: number): Promise<void> {
    const { folder } = this;
    const minutes = Map.groupBy(tableFiles(folder, 'recall_fact'), (path) =>
      (stampOf(basename(path)) ?? '').slice(0, HOUR_LENGTH),
    );
    const isRolled = rolledHours(tableFiles(folder, 'item_hour').map((path) => basename(path)));
    for (const [hour, paths] of minutes) {
      const isWhole = hour.length === HOUR_LENGTH && hour < hourAt(nowMs);
      if (!isWhole || isRolled(`${hour}.x.parquet`)) continue;
      const name = `${hour}.${this.node.replaceAll(/[^\w-]/g, '_') || 'node'}.parquet`;
      await writeWhole(join(tableFolder(folder, 'item_hour'), name), async (partial) => {
        const rows = `${rollupQuery(parquetOf(paths), 'state.item_version')} ORDER BY 1, 7`;
        await this.connection.run(
          `COPY (${rows}) TO ${quoted(partial)} (FORMAT parquet, COMPRESSION zstd)`,
        );
      });
    }
  }
}
