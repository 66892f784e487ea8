import { Group, SegmentedControl, Select, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import type { VersionsPage } from '../../../src/api-types.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Figure, Figures } from '../ui/figure.js';
import { formatCount, formatShare, shortDigest } from '../ui/format.js';
import { Histogram } from '../ui/histogram.js';
import { COLOURS, type Plot, PlotChart } from '../ui/plot-chart.js';
import { Section } from '../ui/section.js';
import { Empty } from '../ui/states.js';
import { useAttribute } from './composition.js';
import { useAnalysis, useFilter } from './filter.js';
import { OutcomeChart, OutcomeTable } from './outcome.js';
import { AnalysisPage, Answered } from './page.js';
import { PanelNote } from './panel-note.js';

type Version = VersionsPage['versions'][number];
type Pair = VersionsPage['pairs'][number];

const NO_ADAPTER = 'base model';

/** Names of the versions on this page. */
function namesOf(versions: readonly Version[]): (adapter: string) => string {
  const names = new Map(
    versions.map(({ adapter, name }) => [
      adapter,
      adapter === '' ? NO_ADAPTER : `${name} ${shortDigest(adapter)}`,
    ]),
  );
  return (adapter) => names.get(adapter) ?? (adapter === '' ? NO_ADAPTER : shortDigest(adapter));
}

function versionColumns(nameOf: (adapter: string) => string): Column<Version>[] {
  return [
    {
      key: 'version',
      label: 'Version',
      value: ({ adapter }) => nameOf(adapter),
      cell: ({ adapter }) => <span title={adapter}>{nameOf(adapter)}</span>,
    },
    { key: 'arm', label: 'As', value: ({ arm }) => arm, cell: ({ arm }) => arm },
    {
      key: 'recalls',
      label: 'Recalls',
      isNumber: true,
      value: ({ recalls }) => recalls,
      cell: ({ recalls }) => formatCount(recalls),
    },
    {
      key: 'users',
      label: 'Users',
      isNumber: true,
      value: ({ users }) => users,
      cell: ({ users }) => formatCount(users),
    },
  ];
}

/** Shares of an attribute's values, version beside version. */
function Exposure({ page, nameOf }: { page: VersionsPage; nameOf: (adapter: string) => string }) {
  const values = useMemo(
    () => [...new Set(page.exposure.map(({ value }) => value))].slice(0, 12),
    [page],
  );
  const height = 60 + values.length * (10 + 14 * page.versions.length);
  const draw = useCallback(
    (plot: Plot) => {
      const versions = page.versions.map(({ adapter }) => nameOf(adapter));
      const bars = page.exposure
        .filter(({ value }) => values.includes(value))
        .map(({ adapter, value, share, items }) => ({
          version: nameOf(adapter),
          value: value === '' ? '(without)' : value,
          share: share * 100,
          items,
        }));
      return {
        marginLeft: 120,
        marginRight: 10,
        color: { domain: versions, range: COLOURS.slice(0, versions.length), legend: true },
        marginBottom: 44,
        x: { label: 'share of the items, %', grid: true, labelOffset: 36 },
        y: { axis: null, domain: versions },
        fy: { label: null, domain: values.map((value) => value || '(without)'), padding: 0.2 },
        marks: [
          plot.axisFy({ anchor: 'left', label: null, textAnchor: 'end' }),
          plot.barX(bars, { x: 'share', y: 'version', fy: 'value', fill: 'version', tip: true }),
        ],
      };
    },
    [page, nameOf, values],
  );
  return (
    <PlotChart label={`Share of each ${page.attribute} by version`} height={height} draw={draw} />
  );
}

/** A cell of the matrix, the darker the more they have in common. */
function OverlapCell({
  pair,
  isChosen,
  choose,
}: {
  pair: Pair | undefined;
  isChosen: boolean;
  choose: (pair: Pair) => void;
}) {
  if (pair === undefined) return <Table.Td className="number">no users of both</Table.Td>;
  const heat = { '--heat': `${Math.round(pair.overlap * 45)}%` };
  return (
    <Table.Td className="number" style={heat as React.CSSProperties}>
      <UnstyledButton className="sort" aria-pressed={isChosen} onClick={() => choose(pair)}>
        {formatShare(pair.overlap)}
      </UnstyledButton>
    </Table.Td>
  );
}

/** Overlaps of all pairs; a click shows how they are distributed. */
function Matrix({
  page,
  nameOf,
  chosen,
  choose,
}: {
  page: VersionsPage;
  nameOf: (adapter: string) => string;
  chosen: Pair | undefined;
  choose: (pair: Pair) => void;
}) {
  const of = (left: string, right: string) =>
    page.pairs.find(
      (pair) =>
        (pair.left === left && pair.right === right) ||
        (pair.left === right && pair.right === left),
    );
  return (
    <Table.ScrollContainer minWidth={160 + 130 * page.versions.length}>
      <Table className="heat" fz="sm" aria-label="Mean overlap of the same users' newest recalls">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Overlap</Table.Th>
            {page.versions.map(({ adapter }) => (
              <Table.Th key={adapter} className="number">
                {nameOf(adapter)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {page.versions.map(({ adapter: left }) => (
            <Table.Tr key={left}>
              <Table.Th scope="row">{nameOf(left)}</Table.Th>
              {page.versions.map(({ adapter: right }) =>
                left === right ? (
                  <Table.Td key={right} />
                ) : (
                  <OverlapCell
                    key={right}
                    pair={of(left, right)}
                    isChosen={of(left, right) === chosen}
                    choose={choose}
                  />
                ),
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Overlaps({ page, nameOf }: { page: VersionsPage; nameOf: (adapter: string) => string }) {
  const { query, set } = useFilter();
  const keyOf = ({ left, right }: Pair) => `${left}~${right}`;
  const chosen = page.pairs.find((pair) => keyOf(pair) === query.get('pair')) ?? page.pairs[0];
  const bins = chosen?.histogram.map((count, bin) => ({ name: `${bin * 10} %`, count })) ?? [];
  if (chosen === undefined) {
    return (
      <Empty title="No user had two versions">
        Overlaps are of users that had recalls under both in this span. Compare asks any two
        versions for the same users.
      </Empty>
    );
  }
  return (
    <Stack>
      <Matrix
        page={page}
        nameOf={nameOf}
        chosen={chosen}
        choose={(pair) => set({ pair: keyOf(pair) })}
      />
      <Text size="sm">
        {nameOf(chosen.left)} and {nameOf(chosen.right)}: {formatCount(chosen.users)} users by
        overlap, from nothing in common to the same items.
      </Text>
      <Histogram label="Users by overlap" bins={bins} unit="users" />
      <PanelNote oneIn={page.overlapOneIn} figures="Overlap" />
    </Stack>
  );
}

function Shown({ page, shows }: { page: VersionsPage; shows: string }) {
  const nameOf = useMemo(() => namesOf(page.versions), [page]);
  if (page.versions.length === 0) {
    return <Empty title="No recall in this span">Choose a longer span.</Empty>;
  }
  if (shows === 'outcome') {
    return (
      <Section
        title="Outcome by position"
        help="Lines: 95 % intervals. A click belongs to the recall that showed the item."
      >
        <OutcomeChart rows={page.outcome} nameOf={nameOf} />
        <OutcomeTable rows={page.outcome} nameOf={nameOf} shownBy={page.shownBy} />
        <PanelNote oneIn={page.oneIn} figures="Outcome" />
      </Section>
    );
  }
  const [first] = page.pairs;
  return (
    <>
      <Figures>
        <Figure label="Versions" value={formatCount(page.versions.length)} />
        {first !== undefined && (
          <Figure
            label="Overlap of the first two"
            value={formatShare(first.overlap)}
            note={`${formatCount(first.users)} users of both`}
          />
        )}
      </Figures>
      {page.exposure.length > 0 && (
        <Section title={`Items by ${page.attribute}`}>
          <Exposure page={page} nameOf={nameOf} />
        </Section>
      )}
      <Section
        title="Overlap"
        help="Mean Jaccard index of the newest recalls of a user under each."
      >
        <Overlaps page={page} nameOf={nameOf} />
      </Section>
      <Section title="Served versions">
        <DataTable
          label="Versions"
          rows={page.versions}
          columns={versionColumns(nameOf)}
          keyOf={({ adapter }) => adapter}
          minWidth={360}
        />
      </Section>
    </>
  );
}

export function View() {
  const { query, set } = useFilter();
  const { attributes, by, setBy } = useAttribute();
  const shows = query.get('show') === 'outcome' ? 'outcome' : 'recalled';
  const asked = useAnalysis<VersionsPage>('versions', { by });
  return (
    <AnalysisPage title="Versions" help="Adapters beside each other, as they served in this span.">
      <Group gap="xs" align="flex-end">
        <SegmentedControl
          size="xs"
          aria-label="View"
          value={shows}
          onChange={(show) => set({ show: show === 'recalled' ? undefined : show })}
          data={[
            { value: 'recalled', label: 'Recalled items' },
            { value: 'outcome', label: 'Clicks' },
          ]}
        />
        {shows === 'recalled' && (
          <Select label="Attribute" size="xs" data={[...attributes]} value={by} onChange={setBy} />
        )}
      </Group>
      <Answered asked={asked}>{(page) => <Shown page={page} shows={shows} />}</Answered>
    </AnalysisPage>
  );
}
