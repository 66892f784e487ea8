import {
  Anchor,
  Button,
  Checkbox,
  Group,
  Pill,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { ListedRecall, RecallList, SavedSet } from '../../../src/api-types.js';
import { post, remove, withQuery } from '../api.js';
import { formatCount, formatTime, formatUs } from '../ui/format.js';
import { Mark } from '../ui/mark.js';
import { Empty, Failure, PageTitle, UnreachedNodes, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';

const PAGE = 100;
const FILTERS = [
  ['userId', 'User'],
  ['itemId', 'Returned item'],
  ['requestId', 'Request ID'],
  ['code', 'Code'],
] as const;

function FilterFields() {
  const [query, setQuery] = useSearchParams();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = [...new FormData(event.currentTarget)].filter(([, value]) => value !== '');
    setQuery(Object.fromEntries(given) as Record<string, string>);
  };
  return (
    <form onSubmit={submit} key={query.toString()}>
      <Group align="flex-end">
        {FILTERS.map(([name, label]) => (
          <TextInput key={name} name={name} label={label} defaultValue={query.get(name) ?? ''} />
        ))}
        <Button type="submit" variant="default">
          Find
        </Button>
      </Group>
    </form>
  );
}

function Row({
  recall,
  isOfCluster,
  isChosen,
  onChoose,
}: {
  recall: ListedRecall;
  isOfCluster: boolean;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
}) {
  const saved = recall.promptTokens - recall.computedTokens;
  return (
    <Table.Tr className={isChosen ? 'chosen' : ''}>
      <Table.Td>
        <Checkbox
          aria-label={`Choose the recall of ${formatTime(recall.timeMs)}`}
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
      </Table.Td>
      <Table.Td>
        <Anchor
          component={Link}
          to={withQuery(`/recalls/${recall.id}`, { node: recall.node })}
          size="sm"
        >
          {formatTime(recall.timeMs)}
        </Anchor>
      </Table.Td>
      <Table.Td>
        {recall.userId === '' ? <Text c="dimmed">a history</Text> : recall.userId}
      </Table.Td>
      <Table.Td>
        <Mark color={recall.code === 'OK' ? 'teal' : 'red'}>{recall.code}</Mark>
      </Table.Td>
      {isOfCluster && <Table.Td>{recall.node}</Table.Td>}
      <Table.Td>
        {recall.source === 'console' ? 'tried here' : `served, by ${recall.reason}`}
      </Table.Td>
      <Table.Td className="number">{formatCount(recall.itemCount)}</Table.Td>
      <Table.Td className="number">{formatCount(recall.promptTokens)}</Table.Td>
      <Table.Td className="number">{formatCount(saved)}</Table.Td>
      <Table.Td className="number">{formatUs(recall.totalUs)}</Table.Td>
    </Table.Tr>
  );
}

function Sets({ chosen }: { chosen: readonly string[] }) {
  const [name, setName] = useState('');
  const queries = useQueryClient();
  const sets = useAsked<{ sets: SavedSet[] }>('sets');
  const again = () => queries.invalidateQueries({ queryKey: ['sets'] });
  const save = useMutation({
    mutationFn: () => post('sets', { name, recallIds: chosen }),
    onSuccess: again,
  });
  const drop = useMutation({
    mutationFn: (gone: string) => remove(`sets/${encodeURIComponent(gone)}`),
    onSuccess: again,
  });
  return (
    <Stack gap="xs">
      <Group align="flex-end">
        <TextInput
          label={`Save the ${chosen.length} chosen as a set`}
          placeholder="name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button
          variant="default"
          disabled={chosen.length === 0 || name === ''}
          onClick={() => save.mutate()}
        >
          Save
        </Button>
        <Group gap={4}>
          {sets.data?.sets.map((set) => (
            <Pill
              key={set.name}
              withRemoveButton
              onRemove={() => drop.mutate(set.name)}
              removeButtonProps={{ 'aria-label': `Remove the set ${set.name}` }}
            >
              <Anchor
                component={Link}
                size="xs"
                to={withQuery('/recalls', { set: set.name })}
              >{`${set.name} (${set.recallIds.length})`}</Anchor>
            </Pill>
          ))}
        </Group>
      </Group>
      {(save.error ?? drop.error) !== null && <Failure error={save.error ?? drop.error} />}
    </Stack>
  );
}

function RecallTable({ recalls }: { recalls: readonly ListedRecall[] }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const isOfCluster = recalls.some(({ node }) => node !== '');
  return (
    <Stack>
      <Sets chosen={[...chosen]} />
      <Table.ScrollContainer minWidth={900}>
        <Table highlightOnHover verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th aria-label="Chosen" />
              <Table.Th>Time</Table.Th>
              <Table.Th>User</Table.Th>
              <Table.Th>Outcome</Table.Th>
              {isOfCluster && <Table.Th>Node</Table.Th>}
              <Table.Th>Recorded</Table.Th>
              <Table.Th className="number">Items</Table.Th>
              <Table.Th className="number">Prompt tokens</Table.Th>
              <Table.Th className="number">of them saved</Table.Th>
              <Table.Th className="number">Took</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {recalls.map((recall) => (
              <Row
                key={`${recall.node} ${recall.id}`}
                recall={recall}
                isOfCluster={isOfCluster}
                isChosen={chosen.has(recall.id)}
                onChoose={(isChosen) => choose(recall.id, isChosen)}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

export function View() {
  const [query] = useSearchParams();
  const asked = Object.fromEntries(FILTERS.map(([name]) => [name, query.get(name) ?? undefined]));
  const path = withQuery('recalls', { ...asked, limit: String(PAGE) });
  const list = useAsked<RecallList>(path, 5000);
  const sets = useAsked<{ sets: SavedSet[] }>('sets');
  const set = sets.data?.sets.find((one) => one.name === query.get('set'));
  const recalls = list.data?.recalls.filter(({ id }) => set?.recallIds.includes(id) ?? true);
  return (
    <>
      <PageTitle title="Recorded recalls">
        The newest {PAGE} that fit. Served recalls are recorded when they ask for it
        (&quot;inspect&quot;), when their user is watched, or by chance.
      </PageTitle>
      <Stack>
        <FilterFields />
        {list.error !== null && <Failure error={list.error} retry={() => list.refetch()} />}
        {list.isPending && <Waiting />}
        {list.data !== undefined && list.data.unreached.length > 0 && (
          <UnreachedNodes unreached={list.data.unreached} />
        )}
        {recalls?.length === 0 && (
          <Empty title="No recall fits">
            <Anchor component={Link} to="/try">
              Try one
            </Anchor>
            , or ask for a recall with &quot;inspect&quot;: true.
          </Empty>
        )}
        {recalls !== undefined && recalls.length > 0 && <RecallTable recalls={recalls} />}
      </Stack>
    </>
  );
}
