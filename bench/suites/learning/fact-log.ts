import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type {
  WorldAnswer,
  WorldBehaviour,
  WorldRecall,
  WorldService,
} from '../../../tools/world/world-service.js';

/** Columns that a trainer reads of both tables (docs/operate/analysis.md), from lines of JSON. */
const TABLES = {
  behaviour: {
    lines: {
      user_hash: 'UBIGINT',
      item_id: 'VARCHAR',
      time: 'BIGINT',
      action: 'VARCHAR',
      request_id: 'VARCHAR',
      position: 'UINTEGER',
      scene: 'MAP(VARCHAR, VARCHAR)',
    },
    columns: '* REPLACE (make_timestamp_ms(time) AS time)',
  },
  recall_fact: {
    lines: {
      user_hash: 'UBIGINT',
      request_id: 'VARCHAR',
      time: 'BIGINT',
      item_ids: 'VARCHAR[]',
      scene: 'MAP(VARCHAR, VARCHAR)',
    },
    columns: "* REPLACE (make_timestamp_ms(time) AS time), 'OK' AS code, 'grpc' AS edge",
  },
};
type Table = keyof typeof TABLES;
/** As a minute's file is named. */
const stampOf = (ms: number) => new Date(ms).toISOString().replaceAll(/[-:]/g, '').slice(0, 13);

/**
 * Facts of a world by its own clock: those of a service bear the wall's, which a world without a
 * pace leaves standing, and come a minute late. Passes all calls on.
 */
export class FactLog implements WorldService {
  private readonly waiting: Record<Table, object[]> = { behaviour: [], recall_fact: [] };

  constructor(
    private readonly service: WorldService,
    readonly folder: string,
    private readonly clock: () => number,
  ) {}

  items: WorldService['items'] = () => this.service.items();
  apply: WorldService['apply'] = (changes) => this.service.apply(changes);
  learnedUntilMs: WorldService['learnedUntilMs'] = () => this.service.learnedUntilMs();

  async recall(question: WorldRecall): Promise<WorldAnswer> {
    const answer = await this.service.recall(question);
    const { visit, userId, daypart } = question;
    this.waiting.recall_fact.push({
      user_hash: hashOf(userId),
      request_id: visit,
      // Before the behaviours that follow it.
      time: this.clock() - 1,
      item_ids: answer.itemIds,
      scene: { daypart },
    });
    return answer;
  }

  async append(behaviours: readonly WorldBehaviour[]): Promise<void> {
    await this.service.append(behaviours);
    const time = this.clock();
    for (const { userId, itemId, action, visit = '', position = 0, daypart } of behaviours) {
      this.waiting.behaviour.push({
        user_hash: hashOf(userId),
        item_id: itemId,
        time,
        action,
        request_id: visit,
        position,
        scene: { daypart },
      });
    }
  }

  /** Writes a file of each table. */
  async flush(): Promise<void> {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    try {
      for (const table of Object.keys(TABLES) as Table[]) {
        const { lines, columns } = TABLES[table];
        const rows = this.waiting[table].splice(0);
        if (rows.length === 0) continue;
        const folder = join(this.folder, table);
        mkdirSync(folder, { recursive: true });
        const from = join(folder, '.rows.jsonl');
        writeFileSync(from, rows.map((row) => JSON.stringify(row)).join('\n'));
        const types = Object.entries(lines).map(([name, type]) => `${name}: '${type}'`);
        const to = join(folder, `${stampOf(this.clock())}.bench.parquet`);
        await connection.run(
          `COPY (SELECT ${columns} FROM read_json('${from}', format = 'newline_delimited', ` +
            `columns = {${types.join(', ')}})) TO '${to}' (FORMAT parquet)`,
        );
        rmSync(from);
      }
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  }
}

/** A pseudonym of a user `w-SEED-N`, never 0. */
function hashOf(userId: string): string {
  const [, , number = 'bot'] = userId.split('-');
  return String(number === 'bot' ? 2 ** 40 : Number(number) + 1);
}
