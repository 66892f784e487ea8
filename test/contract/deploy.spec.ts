/** The files of deploy/ are true of the service. */

import { readFileSync } from 'node:fs';
import { Metrics } from '@tessera/telemetry';
import { describe, expect, it } from 'vitest';
import { FakeRuntime } from '../integration/fake-runtime.js';

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(readFileSync('deploy/grafana/dashboards/tessera.json', 'utf8'));
const expressions = (dashboard.panels as Panel[]).flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr })),
);

/** Metric names with the labels that each has, from what the service tells before any request. */
async function known(): Promise<Map<string, string>> {
  const runtime = new FakeRuntime();
  const metrics = new Metrics(
    () => runtime.engineStats(),
    () => runtime.kvPool.metrics(),
  );
  const text = await metrics.text();
  return new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map((m) => [m[1] ?? '', m[2] ?? '']));
}

describe('the dashboard', () => {
  it('shows panels that ask for something', () => {
    expect(expressions.length).toBeGreaterThan(15);
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
