import { Autocomplete, Button, Group, NumberInput, Select, Text } from '@mantine/core';
import { type FormEvent, useCallback, useState } from 'react';
import type {
  About,
  AdaptersPage,
  Estimate,
  Estimates,
  OutcomesPage,
} from '../../../src/api-types.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Figure, Figures } from '../ui/figure.js';
import { formatCount } from '../ui/format.js';
import { type Plot, PlotChart } from '../ui/plot-chart.js';
import { Section } from '../ui/section.js';
import { Empty } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { useAnalysis, useFilter } from './filter.js';
import { AnalysisPage, Answered } from './page.js';
import { PanelNote } from './panel-note.js';

const ROWS: readonly (readonly [keyof Estimates, string])[] = [
  ['served', 'As served'],
  ['weighted', 'Target, weighted'],
  ['normalised', 'Target, self-normalised'],
  ['doublyRobust', 'Target, doubly robust'],
  ['gain', 'Doubly robust less served'],
];

type Row = Estimate & { readonly label: string };

const rowsOf = (estimates: Estimates): readonly Row[] =>
  ROWS.map(([name, label]) => Object.assign({ label }, estimates[name]));

const number = (key: keyof Estimate, label: string): Column<Row> => ({
  key,
  label,
  isNumber: true,
  value: (row) => row[key],
  cell: (row) => row[key].toFixed(4),
});

const COLUMNS: readonly Column<Row>[] = [
  { key: 'label', label: 'Of a recall', value: ({ label }) => label },
  number('value', 'Estimate'),
  number('low', 'From'),
  number('high', 'To'),
];

/** Estimates with their intervals, beside those of the served answers. */
function EstimateChart({ rows }: { rows: readonly Row[] }) {
  const draw = useCallback(
    (plot: Plot) => ({
      marginLeft: 170,
      marginBottom: 44,
      x: { label: 'reward of a recall', grid: true, labelOffset: 36 },
      y: { label: null, domain: rows.map(({ label }) => label) },
      marks: [
        plot.ruleY(rows, { y: 'label', x1: 'low', x2: 'high', strokeWidth: 2 }),
        plot.dot(rows, { y: 'label', x: 'value', r: 4, fill: 'currentColor' }),
      ],
    }),
    [rows],
  );
  return <PlotChart label="Estimates with 95 % intervals" height={200} draw={draw} />;
}

const REASONS: Readonly<Record<string, string>> = {
  plain: 'drew nothing',
  ranked: 'ranked items',
  unrecorded: 'were not recorded',
  unasked: 'were not asked again',
};

function Left({ left }: Pick<OutcomesPage, 'left'>) {
  const told = Object.entries(left).map(
    ([reason, count]) => `${formatCount(count)} ${REASONS[reason] ?? reason}`,
  );
  if (told.length === 0) return null;
  return (
    <Text size="sm" c="dimmed">
      Recalls left out: {told.join(', ')}.
    </Text>
  );
}

function Shown({ page }: { page: OutcomesPage }) {
  const { estimates, effectiveUsers, effectiveUsersMin, balance, left } = page;
  return (
    <>
      <Figures>
        <Figure
          label="Recalls"
          value={formatCount(page.recalls)}
          note={`of ${formatCount(page.explored)} that explored`}
        />
        <Figure
          label="Users"
          value={formatCount(page.users)}
          note={`${formatCount(page.rewards)} ${page.reward}s`}
        />
        <Figure
          label="Effective users"
          value={effectiveUsers.toFixed(1)}
          note={`at least ${effectiveUsersMin}`}
        />
        <Figure label="Balance" value={balance.toFixed(3)} note="about 1 where both overlap" />
      </Figures>
      {estimates === null ? (
        <Empty title="Too few users carry the weight">
          {effectiveUsers.toFixed(1)} effective users of {effectiveUsersMin}: draw more places, or
          choose a longer span.
        </Empty>
      ) : (
        <Section title="Estimates" help={`Rewards (${page.reward}) of a recall, 95 % intervals.`}>
          <EstimateChart rows={rowsOf(estimates).slice(0, -1)} />
          <DataTable
            label="Estimates"
            rows={rowsOf(estimates)}
            columns={COLUMNS}
            keyOf={({ label }) => label}
            minWidth={420}
          />
        </Section>
      )}
      <Left left={left} />
      <PanelNote oneIn={page.oneIn} figures="Outcome" />
    </>
  );
}

const PARTS = ['adapter', 'valuation', 'temperature'] as const;

/** The target in an address: `adapter=B,temperature=2`. */
function useTarget() {
  const { query, set } = useFilter();
  const what = query.get('what') ?? '';
  const given = Object.fromEntries(what.split(',').map((part) => part.split('=', 2)));
  const [form, setForm] = useState<Record<string, string>>(given);
  const wanted = PARTS.filter((name) => (form[name] ?? '').trim() !== '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set({ what: wanted.map((name) => `${name}=${form[name]?.trim()}`).join(',') });
  };
  const change = (name: string, value: string) => setForm({ ...form, [name]: value });
  return { what, form, change, submit, isGiven: wanted.length > 0 };
}

/** Names that the service knows: likelihood alone and no adapter have names of their own. */
function useNames() {
  const versions = useAsked<AdaptersPage>('adapters').data?.versions ?? [];
  const known = useAsked<About>('about').data?.valuations ?? [];
  return {
    adapters: ['base', ...new Set(versions.map(({ name }) => name))],
    valuations: ['none', ...known.filter(({ hasHeads }) => !hasHeads).map(({ name }) => name)],
  };
}

export function View() {
  const { query, set } = useFilter();
  const { what, form, change, submit, isGiven } = useTarget();
  const { adapters, valuations } = useNames();
  const reward = query.get('reward') ?? 'click';
  return (
    <AnalysisPage
      title="Outcomes"
      help="Estimated rewards of another adapter, valuation or temperature."
    >
      <Group component="form" gap="xs" align="flex-end" onSubmit={submit}>
        <Autocomplete
          label="Adapter"
          size="xs"
          placeholder="as served"
          data={adapters}
          value={form.adapter ?? ''}
          onChange={(adapter) => change('adapter', adapter)}
        />
        <Autocomplete
          label="Valuation"
          size="xs"
          placeholder="as served"
          data={valuations}
          value={form.valuation ?? ''}
          onChange={(valuation) => change('valuation', valuation)}
        />
        <NumberInput
          label="Temperature"
          size="xs"
          placeholder="nothing drawn"
          min={0}
          value={form.temperature ?? ''}
          onChange={(value) => change('temperature', String(value))}
        />
        <Select
          label="Reward"
          size="xs"
          data={['impression', 'click', 'conversion']}
          value={reward}
          onChange={(value) => set({ reward: value === 'click' ? undefined : (value ?? '') })}
        />
        <Button type="submit" size="xs" disabled={!isGiven}>
          Estimate
        </Button>
      </Group>
      {what === '' ? (
        <Empty title="No target yet">
          Name another adapter, valuation or temperature: the service asks recorded recalls again.
        </Empty>
      ) : (
        <Estimated what={what} reward={reward} />
      )}
    </AnalysisPage>
  );
}

function Estimated({ what, reward }: { what: string; reward: string }) {
  const asked = useAnalysis<OutcomesPage>('outcomes', { what, reward });
  return <Answered asked={asked}>{(page) => <Shown page={page} />}</Answered>;
}
