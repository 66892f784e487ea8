/** The files of deploy/ are true of the service. */

import { readFileSync } from 'node:fs';
import { METRICS, Metrics } from '@tessera/telemetry';
import { describe, expect, it } from 'vitest';
import { FakeRuntime } from '../integration/fake-runtime.js';

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(readFileSync('deploy/grafana/dashboards/tessera.json', 'utf8'));
const expressions = (dashboard.panels as Panel[]).flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr })),
);

/** Metrics by name, with their types where this process shows them before any request. */
async function known(): Promise<Map<string, string>> {
  const runtime = new FakeRuntime();
  const metrics = new Metrics(
    () => runtime.engineStats(),
    () => runtime.kvPool.metrics(),
  );
  const text = await metrics.text();
  const named = Object.values(METRICS).map(({ name }): [string, string] => [
    name,
    'of another app',
  ]);
  const shown = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Map([...named, ...shown.map((m): [string, string] => [m[1] ?? '', m[2] ?? ''])]);
}

describe('the dashboard', () => {
  it('shows panels that ask for something', () => {
    expect(expressions.length).toBeGreaterThan(15);
  });

  it('asks the chosen data source about the chosen instances', () => {
    const variables = dashboard.templating.list.map(({ name }: { name: string }) => name);
    expect(variables).toEqual(['datasource', 'instance']);
    const sources = (dashboard.panels as Panel[]).filter(({ targets }) => targets !== undefined);
    for (const { title, datasource } of sources)
      expect(datasource?.uid, title).toMatch(/^\$\{datasource}$/);
    for (const { title, expr } of expressions) {
      const series = [...expr.matchAll(/\b(?:tessera|process|nodejs)_\w+(\{[^}]*\})?/g)];
      for (const [, labels = ''] of series) {
        expect(labels, `${title}: ${expr}`).toContain('instance=~"$instance"');
      }
    }
  });

  it('has a row for each part of the service', () => {
    const rows = (dashboard.panels as Panel[]).filter(({ type }) => type === 'row');
    const titles = rows.map(({ title }) => title);
    expect(titles).toEqual(
      expect.arrayContaining(['Cluster', 'Catalogue', 'Adapters', 'Learning']),
    );
  });

  it('matches series of one instance alone: several are scraped', () => {
    for (const { title, expr } of expressions) {
      for (const [, labels = ''] of expr.matchAll(/\bon ?\(([^)]*)\)/g)) {
        expect(labels.split(/, */), `${title}: ${expr}`).toContain('instance');
      }
      expect(expr, title).not.toMatch(/\bignoring ?\(/);
    }
  });

  it('asks for metrics alone that the service has', async () => {
    const types = await known();
    for (const { title, expr } of expressions) {
      for (const [name] of expr.matchAll(/\b(?:tessera|process|nodejs)_\w+/g)) {
        const base = name.replace(/_(bucket|sum|count)$/, '');
        const type = types.get(name) ?? (types.get(base) === 'histogram' ? 'histogram' : undefined);
        expect(type, `${title}: ${name}`).toBeDefined();
      }
    }
  });
});
