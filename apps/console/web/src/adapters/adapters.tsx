import { Code, Group, Paper, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { useId } from 'react';
import type { AdaptersPage, AdapterView } from '../../../src/api-types.js';
import { formatBytes, formatShare, formatTime, shortDigest } from '../ui/format.js';
import { Mark } from '../ui/mark.js';
import { PageTitle } from '../ui/section.js';
import { Empty, Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { useRefusal } from '../ui/visitor.js';
import {
  RollBackAction,
  runsRecalls,
  VersionActions,
  type VersionProps,
} from './adapter-actions.js';
import { AdapterChangeLog } from './adapter-changes.js';
import { CanaryReportTables } from './canary-report.js';
import { VersionTimeline } from './version-timeline.js';

const REFRESH_MS = 2000;
const NO_WRAP = { whiteSpace: 'nowrap' } as const;
const COLOURS: Readonly<Record<AdapterView['state'], string>> = {
  received: 'gray',
  validated: 'blue',
  canary: 'orange',
  active: 'teal',
  retired: 'gray',
  rejected: 'red',
};

function PushCommand() {
  return (
    <>
      A trainer pushes one: <Code>npm run adapter -- push FOLDER</Code>, where FOLDER is a PEFT
      folder for the model that is served, or has heads that rank.
    </>
  );
}

/** Findings of the engine in the files of a version. */
function factsText({
  targetCount,
  largestNorm,
  replacedRows,
  heads,
  isActivated,
}: NonNullable<AdapterView['facts']>): string {
  return [
    ...(targetCount > 0 || heads.length === 0
      ? [`${targetCount} targets, largest norm ${largestNorm.toPrecision(3)}`]
      : []),
    ...(isActivated ? ['activated: for ranked items alone'] : []),
    ...(replacedRows > 0 ? [`${replacedRows} rows replaced`] : []),
    ...(heads.length > 0 ? [`heads ${heads.join(', ')}`] : []),
  ].join(', ');
}

/** Findings of the engine, or the reason why the version does not, or no longer, serve. */
function Findings({ version }: { version: AdapterView }) {
  const { reason, facts, state } = version;
  const found =
    facts === null ? 'not looked into yet: push it again' : `valid: ${factsText(facts)}`;
  return (
    <Stack gap={0}>
      {(facts !== null || state === 'received') && <Text size="xs">{found}</Text>}
      {reason !== '' && (
        <Text size="xs" fw={600}>
          {reason}
        </Text>
      )}
    </Stack>
  );
}

function VersionRow({ version, refusal, refusalId }: VersionProps) {
  const { state, share, digest, receivedMs, changedMs, pushedBy, holder, remark, facts } = version;
  return (
    <Table.Tr>
      <Table.Td>
        <Mark color={COLOURS[state]}>
          {state === 'canary' ? `canary, ${formatShare(share)}` : state}
        </Mark>
        <Text size="xs" style={NO_WRAP}>
          since {formatTime(changedMs)}
        </Text>
      </Table.Td>
      <Table.Td title={digest}>
        <Text size="sm" ff="monospace">
          {shortDigest(digest)}
        </Text>
        <Text size="xs">
          {[
            version.isLoaded ? `in memory, ${formatBytes(version.arenaBytes)}` : 'on disk',
            ...(version.isPinned ? ['pinned'] : []),
            ...(version.isPredecessor ? ['next in a rollback'] : []),
          ].join(', ')}
        </Text>
      </Table.Td>
      <Table.Td>
        <Text size="xs" style={NO_WRAP}>
          {formatTime(receivedMs)}
        </Text>
        <Text size="xs">
          {pushedBy === '' ? '' : `by ${pushedBy}`}
          {holder !== '' && `, holder ${holder}`}
          {remark !== '' && ` “${remark}”`}
        </Text>
      </Table.Td>
      <Table.Td className="number">{facts?.rankMax ?? '–'}</Table.Td>
      <Table.Td className="number">{formatBytes(version.fileBytes)}</Table.Td>
      <Table.Td>
        <Findings version={version} />
      </Table.Td>
      <Table.Td>
        <VersionActions version={version} refusal={refusal} refusalId={refusalId} />
      </Table.Td>
    </Table.Tr>
  );
}

/** The canary of the name, else the newest version whose comparison is still known. */
function reported(versions: readonly AdapterView[]): AdapterView | undefined {
  const canary = versions.find(({ state }) => state === 'canary');
  return canary ?? versions.find(({ report }) => report !== undefined);
}

type Served = AdapterView | undefined;

/** @param none serves where no version does */
function servesText(canary: Served, active: Served, none: string): string {
  const rest = active === undefined ? none : shortDigest(active.digest);
  if (canary === undefined) return `${rest} serves all users`;
  const share = formatShare(canary.share);
  return `${shortDigest(canary.digest)} serves ${share} of the users, ${rest} all others`;
}

function VersionTable({
  name,
  versions,
  refusal,
  refusalId,
}: {
  name: string;
  versions: readonly AdapterView[];
  refusal: string | undefined;
  refusalId: string;
}) {
  return (
    <Table.ScrollContainer minWidth={1000}>
      <Table verticalSpacing={4} fz="sm" aria-label={`Versions of ${name}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>State</Table.Th>
            <Table.Th>Digest</Table.Th>
            <Table.Th>Pushed</Table.Th>
            <Table.Th className="number">Rank</Table.Th>
            <Table.Th className="number">Files</Table.Th>
            <Table.Th>Verdict</Table.Th>
            <Table.Th>Actions</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {versions.map((version) => (
            <VersionRow
              key={version.digest}
              version={version}
              refusal={refusal}
              refusalId={refusalId}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function OfName({
  name,
  isDefault,
  versions,
  titles,
}: {
  name: string;
  isDefault: boolean;
  versions: readonly AdapterView[];
  titles: AdaptersPage['titles'];
}) {
  const refusal = useRefusal('admin');
  const refusalId = useId();
  const inState = (wanted: AdapterView['state']) => versions.find(({ state }) => state === wanted);
  const [canary, active] = [inState('canary'), inState('active')];
  const before = versions.find(({ isPredecessor }) => isPredecessor);
  const goesBackTo = canary === undefined ? before : active;
  const shown = reported(versions);
  const why = { refusal, refusalId };
  const none = versions.some(runsRecalls) ? 'the base model' : 'no version';
  return (
    <Paper className="section" radius={0} bg="transparent">
      <Group justify="space-between" mb="xs">
        <Group>
          <Title order={2} size="h4">
            {name}
          </Title>
          {isDefault && <Mark>default</Mark>}
          <Text size="sm">{servesText(canary, active, none)}</Text>
        </Group>
        <RollBackAction
          name={name}
          serves={canary ?? active}
          goesBackTo={goesBackTo === undefined ? none : shortDigest(goesBackTo.digest)}
          {...why}
        />
      </Group>
      {refusal !== undefined && (
        <Text id={refusalId} size="sm" c="dimmed">
          You have read-only access. {refusal}
        </Text>
      )}
      <VersionTable name={name} versions={versions} {...why} />
      {shown !== undefined && (
        <Stack gap="xs" mt="sm">
          <Title order={3} size="h5">
            {shown.state === 'canary' ? 'Canary' : 'Last canary'} {shortDigest(shown.digest)} beside
            the active version
          </Title>
          <CanaryReportTables report={shown.report} titles={titles} />
        </Stack>
      )}
    </Paper>
  );
}

function Room({ label, used, most }: { label: string; used: number; most: number }) {
  const text = `${label}: ${formatBytes(used)} of ${formatBytes(most)}`;
  return (
    <Stack gap={2} w={280}>
      <Text size="sm">{text}</Text>
      <Progress value={most === 0 ? 0 : (used / most) * 100} aria-label={text} />
    </Stack>
  );
}

const stateOf = (versions: readonly AdapterView[]) =>
  versions
    .map(({ digest, state, changedMs, isPinned }) => [digest, state, changedMs, isPinned])
    .join();

function Shown({ page }: { page: AdaptersPage }) {
  if (!page.isKept) {
    return (
      <Empty title="No adapters are kept here">
        Set adapters.path to a folder and start again; the base model serves everybody.
      </Empty>
    );
  }
  const names = [...new Set(page.versions.map(({ name }) => name))];
  return (
    <Stack>
      <Group gap="xl">
        <Room label="Memory" used={page.arena.usedBytes} most={page.arena.maxBytes} />
        <Room label="Disk" used={page.disk.usedBytes} most={page.disk.maxBytes} />
      </Group>
      {names.length === 0 && (
        <Empty title="No version yet">
          <PushCommand />
        </Empty>
      )}
      {names.map((name) => (
        <OfName
          key={name}
          name={name}
          isDefault={name === page.defaultName}
          versions={page.versions.filter((version) => version.name === name)}
          titles={page.titles}
        />
      ))}
      {names.length > 0 && (
        <Text size="sm" c="dimmed">
          <PushCommand />
        </Text>
      )}
      {names.length > 0 && <VersionTimeline versions={page.versions} />}
      <AdapterChangeLog state={stateOf(page.versions)} />
    </Stack>
  );
}

export function View() {
  const asked = useAsked<AdaptersPage>('adapters', REFRESH_MS);
  return (
    <>
      <PageTitle title="Adapters">
        Versions that trainers have pushed: which serves whom, and how a canary fares.
      </PageTitle>
      {asked.error !== null && <Failure error={asked.error} retry={() => asked.refetch()} />}
      {asked.isPending && <Waiting />}
      {asked.data !== undefined && <Shown page={asked.data} />}
    </>
  );
}
