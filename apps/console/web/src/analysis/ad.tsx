import {
  Anchor,
  Button,
  Code,
  Group,
  Progress,
  SimpleGrid,
  Stack,
  Table,
  Text,
} from '@mantine/core';
import { useCallback } from 'react';
import { Link, useParams } from 'react-router';
import type { AdPage, AnalysisItem, ItemPlace } from '../../../src/api-types.js';
import { withQuery } from '../api.js';
import { attributesText } from '../recall/item-table.js';
import { useNodeNames } from '../tree/use-node-names.js';
import { type Column, DataTable, numberColumn } from '../ui/data-table.js';
import { Figure, Figures } from '../ui/figure.js';
import { formatCount, formatShare, formatTime, shortDigest, ZONE } from '../ui/format.js';
import { ITEM_COLUMN } from '../ui/item-column.js';
import { type Plot, PlotChart, TIME_AXIS } from '../ui/plot-chart.js';
import { Section } from '../ui/section.js';
import { Empty, Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { useAnalysis } from './filter.js';
import { OutcomeTable } from './outcome.js';
import { AnalysisPage, Answered } from './page.js';
import { PanelNote } from './panel-note.js';
import { useVerdicts, type Verdicts } from './use-verdicts.js';

const VERDICT_WORDS: Readonly<Record<string, string>> = {
  returned: 'it is in the answer',
  pruned: 'the search gave its path up',
  'behind-sid-cap': 'others of its semantic ID took the places',
  'behind-results': 'better items filled the answer',
  'behind-diversity-cap': 'enough items shared its attribute',
  'not-eligible': 'the request kept it out',
  'not-live': 'it was not live',
  'not-in-catalogue': 'the catalogue of the recall had not got it',
};

const versionName = (adapter: string) => (adapter === '' ? 'base model' : shortDigest(adapter));

/** The way from the root, each node by what most items below it are. */
function Way({ sid }: { sid: readonly number[] }) {
  const names = useNodeNames();
  return (
    <ol className="way" aria-label="Place in the tree">
      {sid.map((code, level) => {
        const path = sid.slice(0, level + 1).join('-');
        return (
          <li key={path}>
            <Code>{code}</Code> {names[path]}
          </li>
        );
      })}
    </ol>
  );
}

type Neighbour = ItemPlace['neighbours'][number];

const NEIGHBOUR_COLUMNS: readonly Column<Neighbour>[] = [
  ITEM_COLUMN,
  {
    key: 'sid',
    label: 'Semantic ID',
    value: ({ sid }) => sid.join('-'),
  },
  {
    key: 'shared',
    label: 'First codes in common',
    isNumber: true,
    value: ({ sharedLevels }) => sharedLevels,
  },
];

function Place({ itemId }: { itemId: string }) {
  const asked = useAsked<ItemPlace>(`items/${encodeURIComponent(itemId)}/place`);
  return (
    <Answered asked={asked}>
      {({ sid, attributes, neighbours, isWhole }) => (
        <Stack gap="sm">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {attributesText(attributes)}
          </Text>
          <Way sid={sid} />
          <DataTable
            label="Neighbours"
            rows={neighbours}
            columns={NEIGHBOUR_COLUMNS}
            keyOf={(one) => one.itemId}
            minWidth={340}
          />
          {!isWhole && (
            <Text size="sm" c="dimmed">
              Of the first 100,000 items of the catalogue.
            </Text>
          )}
        </Stack>
      )}
    </Answered>
  );
}

function Hours({ page }: { page: AdPage }) {
  const draw = useCallback(
    (plot: Plot) => {
      const hours = page.hours.map(({ timeMs, recalls, users }) => ({
        time: new Date(timeMs),
        recalls,
        users,
      }));
      return {
        x: TIME_AXIS,
        y: { label: 'recalls an hour', grid: true },
        marks: [
          plot.rectY(hours, {
            x: 'time',
            interval: 'hour',
            y: 'recalls',
            fill: 'var(--bar)',
            tip: true,
          }),
        ],
      };
    },
    [page],
  );
  return <PlotChart label="Recalls that had it, by hour" height={200} draw={draw} />;
}

const SCENE_COLUMNS: readonly Column<AdPage['byScene'][number]>[] = [
  { key: 'key', label: 'Scene', value: ({ key }) => key },
  { key: 'value', label: 'Is', value: ({ value }) => value },
  numberColumn('recalls', 'Recalls', ({ recalls }) => recalls, formatCount),
];

const VERSION_COLUMNS: readonly Column<AdPage['byVersion'][number]>[] = [
  {
    key: 'adapter',
    label: 'Version',
    value: ({ adapter }) => adapter,
    cell: ({ adapter }) => <span title={adapter}>{versionName(adapter)}</span>,
  },
  numberColumn('recalls', 'Recalls', ({ recalls }) => recalls, formatCount),
];

const HISTORY_COLUMNS: readonly Column<AnalysisItem>[] = [
  {
    key: 'from',
    label: 'From',
    value: ({ fromMs }) => fromMs,
    cell: ({ fromMs }) => (fromMs === 0 ? 'the snapshot' : formatTime(fromMs)),
  },
  numberColumn('change', 'Change', ({ fromSequence }) => fromSequence, formatCount),
  {
    key: 'live',
    label: 'Live',
    value: ({ isLive }) => String(isLive),
    cell: ({ isLive }) => (isLive ? 'yes' : 'no'),
  },
  {
    key: 'attributes',
    label: 'Attributes',
    cell: ({ attributes }) => attributesText(attributes),
  },
];

function WhoGetsIt({ page }: { page: AdPage }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
      <Section title="Recalls by scene">
        <DataTable
          label="Recalls by scene"
          rows={page.byScene}
          columns={SCENE_COLUMNS}
          keyOf={({ key, value }) => `${key}=${value}`}
          minWidth={240}
        />
      </Section>
      <Section title="By version">
        <DataTable
          label="Recalls by version"
          rows={page.byVersion}
          columns={VERSION_COLUMNS}
          keyOf={({ adapter }) => adapter}
          minWidth={240}
        />
      </Section>
    </SimpleGrid>
  );
}

function Shown({ page }: { page: AdPage }) {
  const whole = page.outcome.filter(({ position }) => position === 0);
  const [all] = whole.length === 1 ? whole : [];
  return (
    <>
      <Figures>
        <Figure label="Recalls that had it" value={formatCount(page.recalls)} />
        <Figure label="Users" value={formatCount(page.users)} />
        {all !== undefined && (
          <Figure
            label="Click rate"
            value={all.clicks.trials === 0 ? '–' : formatShare(all.clicks.rate)}
            note={`${formatShare(all.clicks.low)} to ${formatShare(all.clicks.high)}`}
          />
        )}
      </Figures>
      <PanelNote oneIn={page.oneIn} figures="Users and outcome" />
      <Section title="Reach by hour" help={`Times in ${ZONE}.`}>
        {page.recalls === 0 ? (
          <Text size="sm">No recall of this span had it.</Text>
        ) : (
          <Hours page={page} />
        )}
      </Section>
      {page.recalls > 0 && <WhoGetsIt page={page} />}
      {page.outcome.length > 0 && (
        <Section title="Outcome by position">
          <OutcomeTable rows={page.outcome} nameOf={versionName} shownBy={undefined} />
        </Section>
      )}
      {page.history.length > 1 && (
        <Section title="Earlier versions">
          <DataTable
            label="Versions of the item"
            rows={page.history}
            columns={HISTORY_COLUMNS}
            keyOf={({ fromSequence, fromMs }) => `${fromSequence} ${fromMs}`}
          />
        </Section>
      )}
    </>
  );
}

function VerdictBars({ verdicts }: { verdicts: Verdicts }) {
  const { asked, failed, counts, steps } = verdicts;
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const given = Object.entries(steps).map(([step, count]) => `${count} in step ${step}`);
  return (
    <Stack gap={4}>
      <Table fz="sm" verticalSpacing={3} aria-label="Verdict">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Verdict</Table.Th>
            <Table.Th className="number">Recalls</Table.Th>
            <Table.Th>Share</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sorted.map(([verdict, count]) => (
            <Table.Tr key={verdict}>
              <Table.Td>{VERDICT_WORDS[verdict] ?? verdict}</Table.Td>
              <Table.Td className="number">{count}</Table.Td>
              <Table.Td w="40%">
                <Progress value={(count / asked) * 100} aria-label={`${verdict}: ${count}`} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" c="dimmed">
        {given.length > 0 && `Given up: ${given.join(', ')}. `}
        {formatCount(asked)} recalls asked
        {failed > 0 && `; ${failed} can no longer be replayed`}.
      </Text>
    </Stack>
  );
}

/** Why recalls do not have it, by asking some again. */
function WhyNotOthers({ itemId }: { itemId: string }) {
  const { verdicts, error, isRunning, start, stop } = useVerdicts(itemId);
  return (
    <Stack gap="xs" align="flex-start">
      {isRunning ? (
        <Button size="xs" variant="default" onClick={stop}>
          Stop
        </Button>
      ) : (
        <Button size="xs" onClick={start}>
          Ask the newest recorded recalls
        </Button>
      )}
      {error !== undefined && <Failure error={error} />}
      {verdicts !== undefined && verdicts.asked > 0 && <VerdictBars verdicts={verdicts} />}
      {verdicts?.asked === 0 && !isRunning && (
        <Text size="sm">No recorded recall could be asked again.</Text>
      )}
    </Stack>
  );
}

export function View() {
  const { id = '' } = useParams();
  const asked = useAnalysis<AdPage>(`ads/${encodeURIComponent(id)}`);
  const item = asked.data?.item;
  return (
    <AnalysisPage title={item?.title || `Item ${id}`} help={`Item ${id}`}>
      <Group gap="md">
        <Anchor component={Link} size="sm" to={withQuery('/recalls', { itemId: id })}>
          Recorded recalls that had it
        </Anchor>
      </Group>
      {asked.data?.item === null && (
        <Empty title="The facts never had it">It may be new: facts follow within a minute.</Empty>
      )}
      {asked.error !== null && <Failure error={asked.error} retry={() => asked.refetch()} />}
      {asked.isPending && <Waiting rows={4} />}
      {asked.data !== undefined && <Shown page={asked.data} />}
      <Section
        title="Why not in other recalls"
        help="The newest recorded recalls are asked again what became of this item."
      >
        <WhyNotOthers itemId={id} key={id} />
      </Section>
      <Section title="Place in the tree" help="Each code by what most items below it are.">
        <Place itemId={id} />
      </Section>
    </AnalysisPage>
  );
}
