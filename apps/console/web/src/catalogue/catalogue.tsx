import { Anchor, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import type { CataloguePage } from '../../../src/api-types.js';
import { post } from '../api.js';
import { type Column, DataTable, numberColumn } from '../ui/data-table.js';
import { Figure, Figures } from '../ui/figure.js';
import { formatBytes, formatCount, shortDigest } from '../ui/format.js';
import { Confirmed } from '../ui/question.js';
import { PageTitle, Section } from '../ui/section.js';
import { Empty, Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { RoleButton } from '../ui/visitor.js';
import { ChangeLog } from './change-log.js';
import { ImportChanges } from './import-changes.js';
import { LandingOfText } from './landing.js';

function RollBack({ page }: { page: CataloguePage }) {
  const [sequence, setSequence] = useState<number | string>('');
  const [isAsked, setIsAsked] = useState(false);
  const [first] = page.generations;
  if (first === undefined) return null;
  return (
    <Stack gap="xs">
      <Group align="flex-end">
        <NumberInput
          label="Go back to the items as of change"
          min={first.firstSequence}
          max={page.sequence}
          value={sequence}
          onChange={setSequence}
        />
        <RoleButton
          needs="admin"
          variant="default"
          disabled={sequence === ''}
          onClick={() => setIsAsked(true)}
        >
          Roll back
        </RoleButton>
      </Group>
      <Confirmed
        opened={isAsked}
        title="Roll the catalogue back?"
        word="Roll back"
        act={() => post('catalogue/roll-back', { sequence })}
        close={() => setIsAsked(false)}
      >
        <Text size="sm">
          The items become those of change {sequence}, as a change of its own: it can be undone in
          the same way.
        </Text>
      </Confirmed>
    </Stack>
  );
}

type Generation = CataloguePage['generations'][number];

const GENERATION_COLUMNS: readonly Column<Generation>[] = [
  {
    key: 'snapshot',
    label: 'Snapshot',
    value: ({ baseDigest }) => baseDigest,
    cell: ({ baseDigest }) => <span title={baseDigest}>{shortDigest(baseDigest)}</span>,
  },
  numberColumn('first', 'First change', ({ firstSequence }) => firstSequence, formatCount),
  numberColumn('last', 'Last change', ({ lastSequence }) => lastSequence, formatCount),
  numberColumn('log', 'Log', ({ logBytes }) => logBytes, formatBytes),
];

function Generations({ generations }: Pick<CataloguePage, 'generations'>) {
  if (generations.length === 0) {
    return (
      <Empty title="None">
        Set catalogue.changesPath: then changes are kept, and any version of them can be gone back
        to.
      </Empty>
    );
  }
  return (
    <DataTable
      label="Versions that are kept"
      rows={generations}
      columns={GENERATION_COLUMNS}
      keyOf={({ firstSequence, baseDigest }) => `${firstSequence}-${baseDigest}`}
    />
  );
}

function Shown({ page }: { page: CataloguePage }) {
  return (
    <Stack>
      <Figures>
        <Figure label="Live items" value={formatCount(page.liveItemCount)}>
          <Anchor component={Link} to="/items" size="sm">
            Look through them
          </Anchor>
        </Figure>
        <Figure label="Change" value={formatCount(page.sequence)} />
        <Figure label="Differ from the snapshot" value={formatCount(page.changedItemCount)} />
      </Figures>
      {page.bundleUuid !== '' && <Text size="sm">Bundle {page.bundleUuid}</Text>}
      <Section title="Versions that are kept">
        <Generations generations={page.generations} />
        <RollBack page={page} />
      </Section>
      <Section title="Changes">
        <ChangeLog />
      </Section>
      <Section title="Where an ad lands">
        <LandingOfText />
      </Section>
      <Section title="Import changes">
        <ImportChanges />
      </Section>
    </Stack>
  );
}

export function View() {
  const asked = useAsked<CataloguePage>('catalogue', 5000);
  return (
    <>
      <PageTitle title="Catalogue">Items that can be recalled, and their versions.</PageTitle>
      {asked.error !== null && <Failure error={asked.error} retry={() => asked.refetch()} />}
      {asked.isPending && <Waiting />}
      {asked.data !== undefined && <Shown page={asked.data} />}
    </>
  );
}
