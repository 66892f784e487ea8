import { Alert, Anchor, Button, Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import type { SavedSet } from '../../../src/api-types.js';
import { post, remove, withQuery } from '../api.js';
import { formatCount, formatTime } from '../ui/format.js';
import { RemoveButton } from '../ui/question.js';
import { Failure } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';

function useSetsAgain() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['sets'] });
}

/** Which set the list shows, and the way back to all. */
export function ShownSet({ name, found }: { name: string; found: number }) {
  const sets = useAsked<{ sets: SavedSet[] }>('sets');
  const navigate = useNavigate();
  const again = useSetsAgain();
  const set = sets.data?.sets.find((one) => one.name === name);
  const drop = async () => {
    await remove(`sets/${encodeURIComponent(name)}`);
    await navigate('/recalls');
    await again();
  };
  return (
    <Alert color="cyan" variant="light" title={`The set “${name}”`} role="status">
      <Group gap="md">
        {set !== undefined && (
          <Text size="sm">
            {formatCount(set.recallIds.length)} recalls, put together by {set.author},{' '}
            {formatTime(set.timeMs)}.
            {found < set.recallIds.length &&
              ' Recalls that are no longer kept are missing from the list.'}
          </Text>
        )}
        <Anchor component={Link} to="/recalls" size="sm">
          All recalls
        </Anchor>
        {set !== undefined && (
          <RemoveButton what={`the set ${name}`} author={set.author} act={drop}>
            <Text size="sm">The recalls stay; only their list is removed, for everybody.</Text>
          </RemoveButton>
        )}
      </Group>
    </Alert>
  );
}

/** Sets that there are, and the chosen recalls as one more. */
export function Sets({ chosen }: { chosen: readonly string[] }) {
  const [name, setName] = useState('');
  const [query] = useSearchParams();
  const again = useSetsAgain();
  const sets = useAsked<{ sets: SavedSet[] }>('sets');
  const save = useMutation({
    mutationFn: () => post('sets', { name, recallIds: chosen }),
    onSuccess: () => {
      setName('');
      return again();
    },
  });
  return (
    <>
      <Group align="flex-end" gap="xs">
        <TextInput
          size="xs"
          label={`Save the ${chosen.length} chosen as a set`}
          placeholder="name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button
          size="xs"
          variant="default"
          disabled={chosen.length === 0 || name === ''}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          Save
        </Button>
        {sets.data?.sets.map((set) => (
          <Anchor
            key={set.name}
            component={Link}
            size="sm"
            aria-current={set.name === query.get('set')}
            to={withQuery('/recalls', { set: set.name })}
          >{`${set.name} (${set.recallIds.length})`}</Anchor>
        ))}
      </Group>
      {save.error !== null && <Failure error={save.error} />}
    </>
  );
}
