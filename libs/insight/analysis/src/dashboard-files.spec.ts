/** Dashboards over the facts in ClickHouse: what they name is there. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  charts,
  columnsOf,
  dashboards,
  databases,
  datasets,
  grafana,
  grafanaStatements,
  metricsOf,
} from './fixture/dashboard-files.js';

const definitions = ['clickhouse.sql', 'clickhouse-views.sql']
  .map((file) => readFileSync(`deploy/analytics/${file}`, 'utf8').replaceAll(/^--.*$/gm, ''))
  .join('\n');

/** Names that the statement which makes a table or view gives its columns. */
function defined(table: string): Set<string> {
  const statement = definitions
    .split(';')
    .find((one) =>
      new RegExp(`CREATE (TABLE IF NOT EXISTS|OR REPLACE VIEW) ${table}\\b`).test(one),
    );
  expect(statement, table).toBeDefined();
  const isView = statement?.includes('OR REPLACE VIEW') === true;
  const last = isView ? statement.slice(statement.search(/^SELECT/m)) : statement;
  const names = isView ? /\bAS (\w+)|^ {4}(\w+)|, (\w+),/gm : /^ {4}(\w+) /gm;
  return new Set([...(last ?? '').matchAll(names)].map((m) => m.slice(1).find(Boolean) ?? ''));
}

/** Words of an expression that are neither functions nor texts. */
const namesIn = (expression: string) =>
  expression.replaceAll(/'[^']*'/g, '').match(/\b[a-z_]\w*\b(?!\s*\()/gi) ?? [];

describe('the bundle for Superset', () => {
  it('has identifiers of its own, and none that nothing has', () => {
    const all = [...databases(), ...datasets(), ...charts(), ...dashboards()];
    const ids = all.map(({ uuid }) => uuid);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const of = (list: readonly { readonly uuid: string }[]) => list.map(({ uuid }) => uuid);
    for (const { database_uuid: id } of datasets()) expect(of(databases())).toContain(id);
    for (const { dataset_uuid: id } of charts()) expect(of(datasets())).toContain(id);
  });

  it.each(datasets())('asks $table_name for columns that it has', (dataset) => {
    const names = defined(dataset.table_name);
    const told = dataset.columns.map((column) => column.column_name);
    for (const name of [...told, dataset.main_dttm_col]) expect(names).toContain(name);
    for (const { expression } of dataset.metrics) {
      for (const name of namesIn(expression)) expect(told, expression).toContain(name);
    }
  });

  it.each(charts())('draws $slice_name of columns and metrics that its data set has', (chart) => {
    const dataset = datasets().find(({ uuid }) => uuid === chart.dataset_uuid);
    const told = dataset?.columns.map((column) => column.column_name) ?? [];
    for (const name of columnsOf(chart)) expect(told).toContain(name);
    const metrics = dataset?.metrics.map((metric) => metric.metric_name) ?? [];
    for (const name of metricsOf(chart)) expect(metrics).toContain(name);
    expect(chart.params.viz_type).toBe(chart.viz_type);
    // Without it the dashboard's time does not reach the chart.
    expect(columnsOf(chart)).toContain('time');
  });

  it('places each chart once, and filters by columns that there are', () => {
    const [dashboard] = dashboards();
    const placed = Object.values<{ type?: string; children?: string[]; meta?: { uuid: string } }>(
      dashboard.position,
    ).filter(({ type }) => type === 'CHART');
    expect(placed.map(({ meta }) => meta?.uuid).sort()).toEqual(
      charts()
        .map(({ uuid }) => uuid)
        .sort(),
    );
    for (const { children = [] } of Object.values<{ children?: string[] }>(dashboard.position)) {
      for (const id of children) expect(Object.keys(dashboard.position)).toContain(id);
    }
    for (const { targets } of dashboard.metadata.native_filter_configuration) {
      for (const { datasetUuid: id, column } of targets) {
        if (column === undefined) continue;
        const dataset = datasets().find(({ uuid }) => uuid === id);
        expect(dataset?.columns.map((one) => one.column_name)).toContain(column.name);
      }
    }
  });
});

describe('the dashboard of facts for Grafana', () => {
  it('has variables and marks', () => {
    const { templating, annotations } = grafana();
    expect(templating.list.map(({ name }) => name)).toEqual([
      'clickhouse',
      'node',
      'model',
      'adapter',
    ]);
    expect(annotations.list.map(({ name }) => name)).toEqual(['Imports', 'Activations']);
  });

  it.each(grafanaStatements())('asks in %s for a table that there is, in a span', (_title, sql) => {
    const [, table = ''] = /\bFROM (\w+)/.exec(sql) ?? [];
    expect(defined(table).size).toBeGreaterThan(1);
    expect(sql).toContain('$__timeFilter_ms(time)');
  });
});
