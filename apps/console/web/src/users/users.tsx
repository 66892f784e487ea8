import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import type { About, KvChainView, UserPage } from '../../../src/api-types.js';
import { remove, withQuery } from '../api.js';
import { KvBar } from '../kv/kv-bar.js';
import { ageOf } from '../kv/kv-sources.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { formatCount, formatTime, shortDigest } from '../ui/format.js';
import { ITEM_COLUMN } from '../ui/item-column.js';
import { Confirmed } from '../ui/question.js';
import { PageTitle, Section } from '../ui/section.js';
import { Empty, Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { UserField } from '../ui/user-field.js';
import { RoleButton } from '../ui/visitor.js';

function Finder({ userId }: { userId: string }) {
  const [text, setText] = useState(userId);
  const navigate = useNavigate();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text !== '') navigate(`/users/${encodeURIComponent(text)}`);
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end">
        <UserField value={text} onChange={setText} />
        <Button type="submit" variant="default">
          Show
        </Button>
      </Group>
    </form>
  );
}

const tiersOf = ({ deviceTokens, hostTokens, diskTokens }: KvChainView) => ({
  device: deviceTokens,
  host: hostTokens,
  disk: diskTokens,
});

function Chain({ chain }: { chain: KvChainView }) {
  return (
    <Stack gap={4}>
      <Text size="sm">
        Version {shortDigest(chain.version)}
        {chain.isRetired && ' (retired)'}: {formatCount(chain.tokens)} tokens,{' '}
        {formatCount(chain.durableTokens)} of them would be found after a restart
        {chain.versionsBack > 0 && `; computed ${ageOf(chain.versionsBack)}`}
      </Text>
      <KvBar
        tokens={{ tokensByTier: tiersOf(chain) }}
        label={`Tokens kept under version ${chain.version}`}
      />
    </Stack>
  );
}

interface ErasedUser {
  readonly known: boolean;
  readonly recalls: number;
}

function Erase({ userId, onErased }: { userId: string; onErased: (user: ErasedUser) => void }) {
  const about = useAsked<About>('about');
  const [isAsked, setIsAsked] = useState(false);
  const queries = useQueryClient();
  const erased = (user: ErasedUser) => {
    // The page of the user is asked for no more: that they are unknown now is no fault.
    onErased(user);
    return queries.invalidateQueries({ refetchType: 'none' });
  };
  if (about.data?.canErase !== true) return null;
  return (
    <>
      <RoleButton
        needs="operate"
        color="red"
        variant="light"
        size="xs"
        onClick={() => setIsAsked(true)}
      >
        Erase this user
      </RoleButton>
      <Confirmed
        opened={isAsked}
        title={`Erase user ${userId}?`}
        word="Erase"
        color="red"
        act={() => remove<ErasedUser>(`users/${encodeURIComponent(userId)}`)}
        done={erased}
        close={() => setIsAsked(false)}
      >
        <Text size="sm">
          Behaviours, profile, keys and values and recorded recalls are removed for good.
        </Text>
      </Confirmed>
    </>
  );
}

type Shown = UserPage['behaviours'][number] & { readonly at: number };

const BEHAVIOUR_COLUMNS: readonly Column<Shown>[] = [
  ITEM_COLUMN,
  {
    key: 'sid',
    label: 'SID',
    value: ({ sid }) => sid.join('-'),
    cell: ({ sid }) => sid.join('-') || 'not in the catalogue',
  },
  {
    key: 'action',
    label: 'Action',
    value: ({ action }) => action,
    cell: ({ action }) => action || '–',
  },
  {
    key: 'time',
    label: 'Time',
    value: ({ time }) => time,
    cell: ({ time }) => (time === 0 ? '–' : formatTime(time * 1000)),
  },
];

function Behaviours({ page }: { page: UserPage }) {
  if (page.behaviours.length === 0) {
    return <Empty title="No behaviours">They come over gRPC or their topic.</Empty>;
  }
  const newest = [...page.behaviours].reverse().map((one, at) => Object.assign({ at }, one));
  return (
    <DataTable
      label="Behaviours"
      rows={newest}
      columns={BEHAVIOUR_COLUMNS}
      keyOf={({ at }) => String(at)}
    />
  );
}

function Erased({ userId, known, recalls }: ErasedUser & { userId: string }) {
  return (
    <Alert color="teal" variant="light" title={`User ${userId} is erased`} role="status">
      {known
        ? 'Behaviours, profile, keys and values are gone'
        : 'No behaviours or profile were known'}
      , and {formatCount(recalls)} recorded recalls. Nothing links the facts to the user any more.
    </Alert>
  );
}

function OfUser({ userId }: { userId: string }) {
  const asked = useAsked<UserPage>(`users/${encodeURIComponent(userId)}`);
  const [erased, setErased] = useState<ErasedUser | undefined>(undefined);
  if (erased !== undefined) return <Erased userId={userId} {...erased} />;
  if (asked.error !== null) return <Failure error={asked.error} retry={() => asked.refetch()} />;
  if (asked.data === undefined) return <Waiting />;
  const page = asked.data;
  const profile = Object.entries(page.profile);
  return (
    <Stack>
      <Group>
        <Anchor component={Link} to={withQuery('/try', { user: userId })} size="sm">
          Try a recall
        </Anchor>
        <Anchor component={Link} to={withQuery('/recalls', { userId })} size="sm">
          Recorded recalls
        </Anchor>
        <Erase userId={userId} onErased={setErased} />
      </Group>
      <Section title="Profile">
        <Text size="sm">
          {profile.length === 0
            ? 'Nothing is known.'
            : profile.map(([key, value]) => `${key}: ${value}`).join(', ')}
        </Text>
      </Section>
      <Section title={`Keys and values kept${page.node === '' ? '' : ` by ${page.node}`}`}>
        {page.fault !== '' && (
          <Alert color="orange" variant="light" title="Not those of the owner" mb="xs">
            {page.fault}
          </Alert>
        )}
        {page.chains.length === 0 ? (
          <Text size="sm">None: the next recall computes the whole prompt.</Text>
        ) : (
          page.chains.map((chain) => <Chain key={chain.version} chain={chain} />)
        )}
      </Section>
      <Section title="Behaviours, newest first">
        <Behaviours page={page} />
      </Section>
    </Stack>
  );
}

export function View() {
  const { id = '' } = useParams();
  return (
    <>
      <PageTitle title={id === '' ? 'Users' : `User ${id}`} />
      <Stack>
        <Finder userId={id} key={id} />
        {id === '' ? (
          <Empty title="No user is chosen">Choose one above to see what is known and kept.</Empty>
        ) : (
          <OfUser userId={id} key={id} />
        )}
      </Stack>
    </>
  );
}
