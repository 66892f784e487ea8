/** Alerts of deploy/prometheus: their metrics, their paragraphs, and Prometheus' own tests. */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FAULTS } from '@tessera/errors';
import { METRICS } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: { readonly severity: string };
  readonly annotations?: { readonly summary: string; readonly runbook_url: string };
}

interface AlertCase {
  readonly alertname: string;
  readonly exp_alerts: readonly unknown[];
}

const FOLDER = join('deploy', 'prometheus');
const read = (name: string) => readFileSync(name, 'utf8');
const { groups } = parse(read(join(FOLDER, 'rules.yaml'))) as {
  groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const names = alerts.map(({ alert = '' }) => alert);

/** Of prom-client's own, which the service shows beside its metrics. */
const OF_NODE = new Set(['process_start_time_seconds']);

describe('rules', () => {
  it('ask for metrics alone that the service has, or that they record', () => {
    const recorded = rules.flatMap(({ record }) => record ?? []);
    const own = new Set([...recorded, ...Object.values(METRICS).map(({ name }) => name)]);
    for (const { expr, alert, record } of rules) {
      for (const [name] of expr.matchAll(/\b(?:tessera|process|nodejs)[_:][\w:]+/g)) {
        const base = name.replace(/_(bucket|sum|count)$/, '');
        const isKnown = own.has(name) || own.has(base) || OF_NODE.has(name);
        expect(isKnown, `${alert ?? record}: ${name}`).toBe(true);
      }
    }
  });

  it('count as faults what the table of errors calls a fault of the service', () => {
    const recorded = rules.filter(({ record = '' }) => record.startsWith('tessera:recall_errors'));
    expect(recorded).toHaveLength(4);
    for (const { expr } of recorded) {
      const lists = [...expr.matchAll(/code=~"([^"]+)"/g)].map(([, listed = '']) => listed);
      expect(lists).toHaveLength(2);
      for (const listed of lists) expect(listed.split('|').sort()).toEqual([...FAULTS].sort());
    }
  });
});

describe('alerts', () => {
  it.each(names)('%s has a paragraph of the runbook', (name) => {
    const rule = alerts.find(({ alert }) => alert === name);
    expect(rule?.labels?.severity).toMatch(/^(page|ticket)$/);
    expect(rule?.annotations?.runbook_url).toBe(`docs/operate/runbook.md#${name.toLowerCase()}`);
    const [, text = ''] = read('docs/operate/runbook.md').split(`\n### ${name}\n`);
    const severity = rule?.labels?.severity === 'page' ? 'Page' : 'Ticket';
    expect(text.trimStart().startsWith(severity)).toBe(true);
  });

  it('are all that the runbook has', () => {
    const titles = [...read('docs/operate/runbook.md').matchAll(/^### (\S+)$/gm)];
    expect(titles.map(([, title]) => title).sort()).toEqual([...names].sort());
  });

  it.each(names)('%s fires in a case of rules.test.yaml, and not in another', (name) => {
    const { tests } = parse(read(join(FOLDER, 'rules.test.yaml'))) as {
      tests: readonly { readonly alert_rule_test: readonly AlertCase[] }[];
    };
    const of = tests.flatMap(({ alert_rule_test: cases }) =>
      cases.filter(({ alertname }) => alertname === name),
    );
    expect(of.some(({ exp_alerts: fired }) => fired.length > 0)).toBe(true);
    expect(of.some(({ exp_alerts: fired }) => fired.length === 0)).toBe(true);
  });
});

describe('Prometheus', () => {
  const fetched = resolve('.cache', 'promtool', 'usr', 'bin', 'promtool');
  const promtool = existsSync(fetched) ? fetched : 'promtool';
  const runs = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(promtool, words, {
      cwd: FOLDER,
      encoding: 'utf8',
    });
    return { isThere: status !== null, ok: status === 0, said: `${stdout}${stderr}` };
  };
  const { isThere } = runs('--version');
  if (!isThere) console.log('rules are not tried here: there is no promtool (Debian prometheus)');

  it.skipIf(!isThere)(
    'fires and does not, as the cases say',
    () => {
      const { ok, said } = runs('test', 'rules', 'rules.test.yaml');
      expect(ok, said).toBe(true);
    },
    120_000,
  );

  it.skipIf(!isThere)('understands what the dashboard asks', () => {
    const { panels } = JSON.parse(read('deploy/grafana/dashboards/tessera.json')) as {
      panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
    };
    const asked = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const rules = asked.map((expr, at) => ({ record: `panel:${at}`, expr }));
    const folder = temporaryFolder({
      'asked.json': JSON.stringify({ groups: [{ name: 'dashboard', rules }] }),
    });
    const { ok, said } = runs('check', 'rules', '--lint=none', join(folder.path, 'asked.json'));
    folder.remove();
    expect(ok, said).toBe(true);
    expect(said).toContain(`${asked.length} rules found`);
  });

  it.skipIf(!isThere)('takes the configuration that names the rules', () => {
    const { ok, said } = runs('check', 'config', 'prometheus.yaml');
    expect(ok, said).toBe(true);
    expect(said).toContain('1 rule files found');
  });
});
