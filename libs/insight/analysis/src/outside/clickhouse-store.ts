import { TesseraError } from '@tessera/errors';
import type { AnalysisStore, HourSources, Row } from '../domain/analysis-store.js';
import { CLICKHOUSE } from '../domain/dialect.js';

export interface ClickHouseAddress {
  /** e.g. http://127.0.0.1:8123 */
  readonly url: string;
  readonly database: string;
  readonly user: string;
  readonly password: string;
}

/** Tables of facts in ClickHouse (deploy/analytics), over its HTTP interface. */
export class ClickHouseStore implements AnalysisStore {
  readonly dialect = CLICKHOUSE;

  constructor(private readonly address: ClickHouseAddress) {}

  async rows(
    statements: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (readonly Row[])[]> {
    const answers: (readonly Row[])[] = [];
    for (const statement of statements) answers.push(await this.ask(statement, signal));
    return answers;
  }

  async hours(): Promise<HourSources> {
    return { rolled: 'recall_fact', open: '' };
  }

  private async ask(sql: string, signal: AbortSignal | undefined): Promise<readonly Row[]> {
    const { url, database, user, password } = this.address;
    const settings = { database, readonly: '2', output_format_json_quote_64bit_integers: '0' };
    const reply = await fetch(`${url}/?${new URLSearchParams(settings)}`, {
      method: 'POST',
      headers: { 'x-clickhouse-user': user, 'x-clickhouse-key': password },
      body: `${sql} FORMAT JSONEachRow`,
      ...(signal && { signal }),
    }).catch((cause: unknown) => {
      throw new TesseraError('STORE_UNAVAILABLE', `clickhouse: ${String(cause)}`, { cause });
    });
    const text = await reply.text();
    if (!reply.ok) throw new TesseraError('STORE_UNAVAILABLE', `clickhouse: ${text.slice(0, 500)}`);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
  }
}
