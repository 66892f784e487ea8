import { Anchor, Grid, Group, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import type { Comparison } from '../../../src/api-types.js';
import { CertificateMark } from '../ui/certificate-mark.js';
import { type Column, DataTable, numberColumn } from '../ui/data-table.js';
import { formatShare } from '../ui/format.js';
import type { UserLine } from './run.js';

type Shift = Comparison['items'][number];

function changeOf({ leftRank, rightRank }: Shift): string {
  if (leftRank === undefined) return 'gained';
  if (rightRank === undefined) return 'lost';
  const shift = leftRank - rightRank;
  return shift === 0 ? 'same' : `${shift > 0 ? 'up' : 'down'} ${Math.abs(shift)}`;
}

const SHIFT_COLUMNS: readonly Column<Shift>[] = [
  {
    key: 'item',
    label: 'Item',
    value: ({ title, itemId }) => title || itemId,
  },
  {
    key: 'left',
    label: 'Left rank',
    isNumber: true,
    value: ({ leftRank }) => leftRank,
    cell: ({ leftRank }) => leftRank ?? '–',
  },
  {
    key: 'right',
    label: 'Right rank',
    isNumber: true,
    value: ({ rightRank }) => rightRank,
    cell: ({ rightRank }) => rightRank ?? '–',
  },
  { key: 'change', label: 'Change', value: changeOf, cell: changeOf },
];

function userColumns(choose: (userId: string) => void): Column<UserLine>[] {
  return [
    {
      key: 'user',
      label: 'User',
      value: ({ userId }) => userId,
      cell: ({ userId }) => (
        <Anchor component="button" size="sm" onClick={() => choose(userId)}>
          {userId}
        </Anchor>
      ),
    },
    numberColumn('overlap', 'Overlap', ({ overlap }) => overlap, formatShare),
    {
      key: 'shift',
      label: 'Mean shift',
      unit: 'ranks',
      isNumber: true,
      value: ({ rankShift }) => rankShift,
      cell: ({ rankShift }) => rankShift.toFixed(1),
    },
    {
      key: 'gained',
      label: 'Gained',
      isNumber: true,
      value: ({ gained }) => gained,
    },
    {
      key: 'lost',
      label: 'Lost',
      isNumber: true,
      value: ({ lost }) => lost,
    },
  ];
}

function Shown({ user }: { user: UserLine }) {
  return (
    <>
      <Title order={3} size="h5">
        User{' '}
        <Anchor component={Link} to={`/users/${encodeURIComponent(user.userId)}`}>
          {user.userId}
        </Anchor>
      </Title>
      <Group gap="xs" my="xs">
        <Text size="sm">Left</Text>
        <CertificateMark {...user.certificates.left} />
        <Text size="sm">Right</Text>
        <CertificateMark {...user.certificates.right} />
      </Group>
      <DataTable
        label="Items of both answers"
        rows={user.items}
        columns={SHIFT_COLUMNS}
        keyOf={({ itemId }) => itemId}
        minWidth={320}
      />
    </>
  );
}

/** The users of a comparison, most different first, and the items of the one that is chosen. */
export function ComparedUsers({ users }: { users: readonly UserLine[] }) {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const most = [...users].sort((a, b) => a.overlap - b.overlap)[0];
  const shown = users.find(({ userId }) => userId === chosen) ?? most;
  return (
    <Grid>
      <Grid.Col span={{ base: 12, lg: 5 }}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys must reach what scrolls */}
        <section className="long" tabIndex={0} aria-label="Users of the comparison">
          <DataTable
            label="Users"
            rows={users}
            columns={userColumns(setChosen)}
            keyOf={({ userId }) => userId}
            first={{ key: 'overlap', isDescending: false }}
            isChosen={(user) => user === shown}
            minWidth={320}
          />
        </section>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 7 }}>
        {shown !== undefined && <Shown user={shown} />}
      </Grid.Col>
    </Grid>
  );
}
