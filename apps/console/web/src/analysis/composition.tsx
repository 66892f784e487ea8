import { Anchor, Group, Select, Table, Text, UnstyledButton } from '@mantine/core';
import { useCallback } from 'react';
import type { AnalysisAbout, CompositionPage } from '../../../src/api-types.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { formatCount, formatShare, ZONE } from '../ui/format.js';
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

function Areas({ page }: { page: CompositionPage }) {
  const draw = useCallback(
    (plot: Plot) => {
      const names = page.values.map(({ value }) => nameOf(value));
      const points = page.series.flatMap(({ timeMs, items }) => {
        const all = items.reduce((sum, count) => sum + count, 0);
        return items.map((count, at) => ({
          time: new Date(timeMs),
          share: all === 0 ? 0 : (count / all) * 100,
          value: names[at] ?? '',
        }));
      });
      const marks = page.marks.map((mark) => ({
        time: new Date(mark.timeMs),
        text: markText(mark),
      }));
      return {
        color: { domain: names, range: COLOURS.slice(0, names.length), legend: true },
        x: TIME_AXIS,
        y: { label: 'share of the items, %', domain: [0, 100], grid: true },
        marks: [
          plot.areaY(points, { x: 'time', y: 'share', fill: 'value', order: names, tip: true }),
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
    {
      key: 'items',
      label: 'Recalled',
      unit: 'items',
      isNumber: true,
      value: ({ items }) => items,
      cell: ({ items }) => formatCount(items),
    },
    {
      key: 'share',
      label: 'Share',
      isNumber: true,
      value: ({ share }) => share,
      cell: ({ share }) => formatShare(share),
    },
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
      {page.matrix.length > 0 && (
        <Section
          title={`By ${page.sceneKey}`}
          help="Each row adds up to 100 %. A click on a name narrows every view to it."
        >
          <HeatMap page={page} />
        </Section>
      )}
      <Section title="Over time" help={`Times in ${ZONE}; dashed lines: imports and activations.`}>
        <Areas page={page} />
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
  const asked = useAnalysis<CompositionPage>('composition', { by, across });
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
      {by === '' ? (
        <Text size="sm">No item of the facts has an attribute.</Text>
      ) : (
        <Answered asked={asked}>{(page) => <Shown page={page} />}</Answered>
      )}
    </AnalysisPage>
  );
}
