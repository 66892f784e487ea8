import {
  Alert,
  Anchor,
  Autocomplete,
  Button,
  Group,
  Modal,
  Paper,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import type { About, KvChainView, UserPage } from '../../../src/api-types.js';
import { remove, withQuery } from '../api.js';
import { KvBar } from '../kv/kv-bar.js';
import { ageOf } from '../kv/kv-sources.js';
import { formatCount, formatTime, shortDigest } from '../ui/format.js';
import { Empty, Failure, PageTitle, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { RoleButton } from '../ui/visitor.js';

function Finder({ userId }: { userId: string }) {
  const [text, setText] = useState(userId);
  const navigate = useNavigate();
  const users = useAsked<{ userIds: string[] }>('users?limit=200');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text !== '') navigate(`/users/${encodeURIComponent(text)}`);
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end">
        <Autocomplete
          label="User"
          data={users.data?.userIds ?? []}
          limit={20}
          value={text}
          onChange={setText}
        />
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

function Erase({ userId }: { userId: string }) {
  const about = useAsked<About>('about');
  const [isAsked, setIsAsked] = useState(false);
  const queries = useQueryClient();
  const erase = useMutation({
    mutationFn: () =>
      remove<{ known: boolean; recalls: number }>(`users/${encodeURIComponent(userId)}`),
    onSuccess: () => {
      setIsAsked(false);
      return queries.invalidateQueries();
    },
  });
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
      <Modal opened={isAsked} onClose={() => setIsAsked(false)} title={`Erase user ${userId}?`}>
        <Text size="sm" mb="md">
          Behaviours, profile, keys and values and recorded recalls are removed for good.
        </Text>
        <Group>
          <Button color="red" loading={erase.isPending} onClick={() => erase.mutate()}>
            Erase
          </Button>
          <Button variant="default" onClick={() => setIsAsked(false)}>
            Keep
          </Button>
        </Group>
        {erase.error !== null && <Failure error={erase.error} />}
      </Modal>
    </>
  );
}

function Behaviours({ page }: { page: UserPage }) {
  if (page.behaviours.length === 0) {
    return <Empty title="No behaviours">They come over gRPC or their topic.</Empty>;
  }
  return (
    <Table verticalSpacing={3} fz="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Item</Table.Th>
          <Table.Th>SID</Table.Th>
          <Table.Th>Action</Table.Th>
          <Table.Th>Time</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {[...page.behaviours].reverse().map((behaviour, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same item may come more than once
          <Table.Tr key={index}>
            <Table.Td>{behaviour.title || behaviour.itemId}</Table.Td>
            <Table.Td>{behaviour.sid.join('-') || 'not in the catalogue'}</Table.Td>
            <Table.Td>{behaviour.action || '–'}</Table.Td>
            <Table.Td>{behaviour.time === 0 ? '–' : formatTime(behaviour.time * 1000)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Shown({ userId }: { userId: string }) {
  const asked = useAsked<UserPage>(`users/${encodeURIComponent(userId)}`);
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
        <Erase userId={userId} />
      </Group>
      <Paper withBorder p="sm">
        <Title order={4}>Profile</Title>
        <Text size="sm">
          {profile.length === 0
            ? 'Nothing is known.'
            : profile.map(([key, value]) => `${key}: ${value}`).join(', ')}
        </Text>
      </Paper>
      <Paper withBorder p="sm">
        <Title order={4} mb="xs">
          Keys and values kept{page.node !== '' && ` by ${page.node}`}
        </Title>
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
      </Paper>
      <Paper withBorder p="sm">
        <Title order={4} mb="xs">
          Behaviours, newest first
        </Title>
        <Behaviours page={page} />
      </Paper>
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
          <Shown userId={id} />
        )}
      </Stack>
    </>
  );
}
