import { Anchor, Group, Select, Table, Text, UnstyledButton } from '@mantine/core';
import { useCallback } from 'react';
import type { AnalysisAbout, CompositionPage } from '../../../src/api-types.js';
import { type Column, DataTable, numberColumn } from '../ui/data-table.js';
import { Figure, Figures } from '../ui/figure.js';
import { formatCount, formatMinute, formatShare, ZONE } from '../ui/format.js';
import { COLOURS, type Plot, PlotChart, TIME_AXIS } from '../ui/plot-chart.js';
import { Section } from '../ui/section.js';
import { Empty } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { useAnalysis, useFilter } from './filter.js';
import { AnalysisPage, Answered, markText } from './page.js';

const PREFERRED = ['category', 'topic'];
const OTHER = '(other)';

const nameOf = (value: string) => (value === '' ? '(without)' : value);

/** The attribute of the address, else one that says what an item is. */
export function useAttribute() {
  const { query, set } = useFilter();
  const about = useAsked<AnalysisAbout>('analysis/about');
  const attributes = about.data?.attributes ?? [];
  const preferred = PREFERRED.find((name) => attributes.includes(name)) ?? attributes[0];
  return {
    attributes,
    sceneKeys: about.data?.sceneKeys ?? [],
    by: query.get('by') ?? preferred ?? '',
    setBy: (by: string | null) => set({ by: by ?? undefined }),
  };
}

/** Columns as wide as what they count, with gaps where nothing was recalled. */
function Columns({ page }: { page: CompositionPage }) {
  const draw = useCallback(
    (plot: Plot) => {
      const names = page.values.map(({ value }) => nameOf(value));
      const parts = page.series.flatMap(({ timeMs, untilMs, items }) => {
        const all = items.reduce((sum, count) => sum + count, 0);
        let below = 0;
        return items
          .map((count, at) => {
            const [from, share] = [below, all === 0 ? 0 : (count / all) * 100];
            below += share;
            const span = { begin: new Date(timeMs), end: new Date(untilMs) };
            return Object.assign(span, { from, to: below, share, value: names[at] ?? '' });
          })
          .filter(({ share }) => share > 0);
      });
      const text = (part: (typeof parts)[number]) =>
        `${part.value}: ${part.share.toFixed(1)} %, ${formatMinute(part.begin.getTime())} ` +
        `to ${formatMinute(part.end.getTime())}`;
      const marks = page.marks.map((mark) => ({
        time: new Date(mark.timeMs),
        text: markText(mark),
      }));
      return {
        color: { domain: names, range: COLOURS.slice(0, names.length), legend: true },
        x: TIME_AXIS,
        y: { label: 'share of the items, %', domain: [0, 100], grid: true },
        marks: [
          plot.rect(parts, {
            x1: 'begin',
            x2: 'end',
            y1: 'from',
            y2: 'to',
            fill: 'value',
            title: text,
            tip: true,
          }),
          plot.ruleX(marks, { x: 'time', stroke: 'currentColor', strokeDasharray: '3,2' }),
          plot.tip(marks, plot.pointerX({ x: 'time', title: 'text' })),
        ],
      };
    },
    [page],
  );
  return <PlotChart label={`Share of each ${page.attribute} over time`} draw={draw} />;
}

type Value = CompositionPage['values'][number];

function valueColumns(attribute: string, add: (value: string) => void): Column<Value>[] {
  return [
    {
      key: 'value',
      label: attribute,
      value: ({ value }) => value,
      cell: ({ value }) =>
        value === '' || value === OTHER ? (
          nameOf(value)
        ) : (
          <Anchor
            component="button"
            size="sm"
            title={`Only items of ${value}`}
            onClick={() => add(value)}
          >
            {value}
          </Anchor>
        ),
    },
    numberColumn('items', 'Recalled', ({ items }) => items, formatCount, 'items'),
    numberColumn('share', 'Share', ({ share }) => share, formatShare),
  ];
}

/** Shares by scene; the darker, the larger; a click narrows to the scene and the value. */
function HeatMap({ page }: { page: CompositionPage }) {
  const { add } = useFilter();
  const { values, matrix, sceneKey, attribute } = page;
  const rows = matrix.map(({ scene, items }) => {
    const all = items.reduce((sum, count) => sum + count, 0);
    return { scene, shares: items.map((count) => (all === 0 ? 0 : count / all)), all };
  });
  const most = Math.max(0.01, ...rows.flatMap(({ shares }) => shares));
  return (
    <Table.ScrollContainer minWidth={120 + 90 * values.length}>
      <Table className="heat" fz="xs" aria-label={`${attribute} by ${sceneKey}, shares`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{sceneKey}</Table.Th>
            <Table.Th className="number">Items</Table.Th>
            {values.map(({ value }) => (
              <Table.Th key={value} className="number">
                {nameOf(value)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ scene, shares, all }) => (
            <Table.Tr key={scene}>
              <Table.Th scope="row">
                <UnstyledButton
                  className="sort"
                  title={`Only ${sceneKey} ${scene}`}
                  onClick={() => add('scene', `${sceneKey}=${scene}`)}
                >
                  {scene || '(without)'}
                </UnstyledButton>
              </Table.Th>
              <Table.Td className="number">{formatCount(all)}</Table.Td>
              {shares.map((share, at) => (
                <Table.Td
                  key={values[at]?.value ?? at}
                  className="number"
                  style={{ '--heat': `${Math.round((share / most) * 45)}%` } as React.CSSProperties}
                >
                  {formatShare(share)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Shown({ page }: { page: CompositionPage }) {
  const { add } = useFilter();
  const { attribute, values } = page;
  const columns = valueColumns(attribute, (value) => add('attribute', `${attribute}=${value}`));
  if (values.length === 0) {
    return <Empty title="No item in this span">Choose a longer span, or take a filter out.</Empty>;
  }
  return (
    <>
      <Figures>
        <Figure
          label={`Gini by ${attribute}`}
          value={page.gini.toFixed(3)}
          note="0: all values have as many items; 1: one has all"
        />
      </Figures>
      {page.matrix.length > 0 && (
        <Section
          title={`By ${page.sceneKey}`}
          help="Each row adds up to 100 %. A click on a name narrows every view to it."
        >
          <HeatMap page={page} />
        </Section>
      )}
      <Section
        title="Over time"
        help={
          `Times in ${ZONE}; dashed lines: imports and activations. ` +
          'A column is as wide as what it counts, and ends at a line.'
        }
      >
        <Columns page={page} />
      </Section>
      <Section title={`By ${attribute}`}>
        <DataTable
          label={`Items by ${attribute}`}
          rows={values}
          columns={columns}
          keyOf={({ value }) => value}
          minWidth={300}
        />
      </Section>
    </>
  );
}

export function View() {
  const { query, set } = useFilter();
  const { attributes, sceneKeys, by, setBy } = useAttribute();
  const across = query.get('across') ?? sceneKeys[0] ?? '';
  const isKnown = useAsked<AnalysisAbout>('analysis/about').isFetched;
  return (
    <AnalysisPage title="Composition" help="Recalled items by an attribute.">
      <Group gap="xs" align="flex-end">
        <Select label="Attribute" size="xs" data={[...attributes]} value={by} onChange={setBy} />
        {sceneKeys.length > 0 && (
          <Select
            label="Scene"
            size="xs"
            data={[...sceneKeys]}
            value={across}
            onChange={(next) => set({ across: next ?? undefined })}
          />
        )}
      </Group>
      {by !== '' && <Asked by={by} across={across} />}
      {by === '' && isKnown && <Text size="sm">No item of the facts has an attribute.</Text>}
    </AnalysisPage>
  );
}

function Asked({ by, across }: { by: string; across: string }) {
  const asked = useAnalysis<CompositionPage>('composition', { by, across });
  return <Answered asked={asked}>{(page) => <Shown page={page} />}</Answered>;
}
