import {
  Button,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Table,
  Text,
  UnstyledButton,
} from '@mantine/core';
import { useCallback, useMemo } from 'react';
import type { VersionsPage } from '../../../src/api-types.js';
import { type Column, DataTable, numberColumn } from '../ui/data-table.js';
import { Figure, Figures } from '../ui/figure.js';
import { formatCount, formatShare, formatTime, shortDigest } from '../ui/format.js';
import { Histogram } from '../ui/histogram.js';
import { ItemLink } from '../ui/item-column.js';
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
    { key: 'arm', label: 'As', value: ({ arm }) => arm },
    numberColumn('recalls', 'Recalls', ({ recalls }) => recalls, formatCount),
    numberColumn('users', 'Users', ({ users }) => users, formatCount),
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
  if (pair.overlap === null) {
    return <Table.Td className="number">none under one catalogue</Table.Td>;
  }
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
      <Table className="heat" fz="sm" aria-label="Mean overlap of the same users' recalls">
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

type Shared = Pair['items'][number];

/** Items, which have pages, or values. */
function sharedColumns(label: string): Column<Shared>[] {
  const isItem = label === 'Item';
  return [
    {
      key: 'shared',
      label: isItem ? 'Item in both' : `${label}, in both`,
      value: ({ key, title }) => title || key || '(without)',
      cell: ({ key, title }) =>
        isItem ? <ItemLink itemId={key} title={title} /> : key || '(without)',
    },
    {
      key: 'count',
      label: isItem ? 'Users' : 'Items of users',
      isNumber: true,
      value: ({ count }) => count,
      cell: ({ count }) => formatCount(count),
    },
  ];
}

/** The recalls that stand beside each other, which a canary makes few. */
function Moment({ page }: { page: VersionsPage }) {
  const { query, set } = useFilter();
  const isWhole = query.get('arms') === 'span';
  const { canary, fromMs, toMs } = page;
  if (canary === '' && !isWhole) return null;
  return (
    <Group gap="xs">
      <Text size="sm">
        {isWhole
          ? 'The whole span: what came before a canary is counted for the others alone.'
          : `While canary ${shortDigest(canary)} served: ` +
            `${formatTime(fromMs)} to ${formatTime(toMs)}.`}
      </Text>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => set({ arms: isWhole ? undefined : 'span' })}
      >
        {isWhole ? 'While the canary served' : 'The whole span'}
      </Button>
    </Group>
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
        {nameOf(chosen.left)} and {nameOf(chosen.right)}: of {formatCount(chosen.usersOfBoth)} users
        of both, {formatCount(chosen.users)} had recalls of both under one catalogue and model. They
        stand below by overlap, from nothing in common to the same items.
      </Text>
      <Histogram label="Users by overlap" bins={bins} unit="users" />
      <PanelNote oneIn={page.overlapOneIn} figures="Overlap" />
      <DataTable
        label="Items that both have"
        rows={chosen.items}
        columns={sharedColumns('Item')}
        keyOf={({ key }) => key}
        pageSize={10}
      />
      {page.attribute !== '' && (
        <DataTable
          label={`${page.attribute} of items that both have`}
          rows={chosen.values}
          columns={sharedColumns(page.attribute)}
          keyOf={({ key }) => key}
          pageSize={10}
        />
      )}
    </Stack>
  );
}

function Shown({ page, shows }: { page: VersionsPage; shows: string }) {
  const nameOf = useMemo(() => namesOf(page.versions), [page]);
  const moment = <Moment page={page} />;
  if (page.versions.length === 0) {
    return <Empty title="No recall in this span">Choose a longer span.</Empty>;
  }
  if (shows === 'outcome') {
    return (
      <Section
        title="Outcome by position"
        help="Lines: 95 % intervals. A click belongs to the recall that showed the item."
      >
        {moment}
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
        {first !== undefined && first.overlap !== null && (
          <Figure
            label="Overlap of the first two"
            value={formatShare(first.overlap)}
            note={`${formatCount(first.users)} users, under one catalogue`}
          />
        )}
      </Figures>
      {moment}
      {page.exposure.length > 0 && (
        <Section title={`Items by ${page.attribute}`}>
          <Exposure page={page} nameOf={nameOf} />
        </Section>
      )}
      <Section
        title="Overlap"
        help={
          "Mean Jaccard index of a user's recalls under each: the newest two of the whole span " +
          'that saw the same catalogue and model.'
        }
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
  const asked = useAnalysis<VersionsPage>('versions', { by, arms: query.get('arms') ?? undefined });
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
