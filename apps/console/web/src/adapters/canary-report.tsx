import { SimpleGrid, Stack, Table, Text } from '@mantine/core';
import type { CanaryReport, ClickRate, RuleVerdict } from '../../../src/api-types.js';
import { type Column, DataTable, numberColumn } from '../ui/data-table.js';
import { formatCount } from '../ui/format.js';
import { ItemLink } from '../ui/item-column.js';
import { Mark } from '../ui/mark.js';
import { SCROLLED_BY_KEYS } from '../ui/scrolled.js';

const RULES: Readonly<Record<RuleVerdict['rule'], string>> = {
  failures: 'Recalls that failed in the model',
  emptyAnswers: 'Empty answers',
  shortAnswers: 'Short answers',
  overlap: 'Items in common with the active version',
  latency: 'Latency, 95th percentile',
  clicks: 'Mean score of clicked items',
  clickRate: 'Click rate above the active version, at most (99.9 %)',
};
const DIGITS = { '%': 1, ms: 1, nats: 3 };

const measured = (value: number, unit: RuleVerdict['unit']) =>
  `${value.toFixed(DIGITS[unit])} ${unit}`;

/** State and text of a rule's verdict. */
function Verdict({ verdict }: { verdict: RuleVerdict }) {
  const { samples, samplesMin, isBroken } = verdict;
  if (isBroken) return <Mark color="red">crossed</Mark>;
  if (samples < samplesMin) return <Mark color="gray">waits for samples</Mark>;
  return <Mark color="teal">holds</Mark>;
}

function Rules({ verdicts }: { verdicts: readonly RuleVerdict[] }) {
  return (
    <Table verticalSpacing={3} fz="sm" aria-label="Rules of the canary">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Rule</Table.Th>
          <Table.Th className="number">Canary</Table.Th>
          <Table.Th className="number">Limit</Table.Th>
          <Table.Th className="number">Samples</Table.Th>
          <Table.Th>Verdict</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {verdicts.map((verdict) => (
          <Table.Tr key={verdict.rule}>
            <Table.Td>{RULES[verdict.rule]}</Table.Td>
            <Table.Td className="number">
              {verdict.samples === 0 ? '–' : measured(verdict.observed, verdict.unit)}
            </Table.Td>
            <Table.Td className="number">
              {verdict.bound === 'most' ? 'at most ' : 'at least '}
              {measured(verdict.limit, verdict.unit)}
            </Table.Td>
            <Table.Td className="number">
              {formatCount(verdict.samples)}
              {verdict.samples < verdict.samplesMin && ` of ${formatCount(verdict.samplesMin)}`}
            </Table.Td>
            <Table.Td>
              <Verdict verdict={verdict} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

const percent = (share: number) => (100 * share).toFixed(1);

/** A rate with its interval, or a dash. */
function rateOf({ userAnswers, rate, low, high }: ClickRate): string {
  return userAnswers === 0 ? '–' : `${percent(rate)} % (${percent(low)} to ${percent(high)})`;
}

function Arms({ report }: { report: CanaryReport }) {
  const { canary, active } = report.summary;
  const rows = [
    ['Answers', formatCount(canary.answers), formatCount(active.answers)],
    ['Failed', formatCount(canary.failures), formatCount(active.failures)],
    ['Empty', formatCount(canary.emptyAnswers), formatCount(active.emptyAnswers)],
    ['Short', formatCount(canary.shortAnswers), formatCount(active.shortAnswers)],
    ['Median', measured(canary.latencyP50Ms, 'ms'), measured(active.latencyP50Ms, 'ms')],
    ['95 %', measured(canary.latencyP95Ms, 'ms'), measured(active.latencyP95Ms, 'ms')],
    ['Clicks', formatCount(canary.clicks), formatCount(active.clicks)],
    ['Clicked answers', rateOf(canary.clickRate), rateOf(active.clickRate)],
  ] as const;
  return (
    <Table verticalSpacing={3} fz="sm" aria-label="Canary and active version">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Since the canary began</Table.Th>
          <Table.Th className="number">Canary</Table.Th>
          <Table.Th className="number">Active</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(([label, ours, theirs]) => (
          <Table.Tr key={label}>
            <Table.Td>{label}</Table.Td>
            <Table.Td className="number">{ours}</Table.Td>
            <Table.Td className="number">{theirs}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

type Moved = CanaryReport['moves']['gained'][number];

/** Items that shadowed recalls have more, or less, under the canary. */
function Moves({
  label,
  items,
  titles,
}: {
  label: string;
  items: readonly Moved[];
  titles: Titles;
}) {
  const columns: readonly Column<Moved>[] = [
    {
      key: 'item',
      label,
      value: ({ itemId }) => titles[itemId] || itemId,
      cell: ({ itemId }) => <ItemLink itemId={itemId} title={titles[itemId] ?? ''} />,
    },
    numberColumn('recalls', 'Shadowed recalls', ({ recalls }) => recalls, formatCount),
  ];
  if (items.length === 0) return <Text size="sm">{label}: none so far.</Text>;
  return (
    <DataTable
      label={label}
      rows={items}
      columns={columns}
      keyOf={({ itemId }) => itemId}
      minWidth={260}
      pageSize={10}
    />
  );
}

type Titles = Readonly<Record<string, string>>;

/** How a canary fares, or fared, beside the version that serves all others. */
export function CanaryReportTables({
  report,
  titles = {},
}: {
  report: CanaryReport | undefined;
  titles?: Titles;
}) {
  if (report === undefined) {
    return <Text size="sm">No recall has come to it yet.</Text>;
  }
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl">
      <Table.ScrollContainer minWidth={420} scrollAreaProps={SCROLLED_BY_KEYS}>
        <Rules verdicts={report.verdicts} />
      </Table.ScrollContainer>
      <Stack>
        <Arms report={report} />
        <Text size="sm">{report.summary.clickVerdict}</Text>
      </Stack>
      <Moves label="Items gained" items={report.moves.gained} titles={titles} />
      <Moves label="Items lost" items={report.moves.lost} titles={titles} />
    </SimpleGrid>
  );
}
