import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Note } from '../../../src/api-types.js';
import { post, remove } from '../api.js';
import { formatTime } from './format.js';
import { Section } from './section.js';
import { Failure } from './states.js';

interface NotesProps {
  /** Path of the thing in the API. */
  readonly path: string;
  readonly notes: readonly Note[];
  /** The node whose console takes notes to it; left out: this one. */
  readonly takenAt?: string | undefined;
}

/** Asks again for the thing at a path, whatever its query. */
function useAgain(path: string) {
  const queries = useQueryClient();
  const isOfThing = ({ queryKey: [key] }: { readonly queryKey: readonly unknown[] }) =>
    typeof key === 'string' && key.split('?')[0] === path;
  return () => queries.invalidateQueries({ predicate: isOfThing });
}

function NewNote({ path }: { path: string }) {
  const [text, setText] = useState('');
  const again = useAgain(path);
  const add = useMutation({
    mutationFn: () => post<Note>(`${path}/notes`, { text }),
    onSuccess: () => {
      setText('');
      return again();
    },
  });
  return (
    <>
      <Textarea
        label="New note"
        autosize
        maxLength={4000}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group>
        <Button
          size="xs"
          variant="default"
          disabled={text.trim() === ''}
          loading={add.isPending}
          onClick={() => add.mutate()}
        >
          Add
        </Button>
      </Group>
      {add.error !== null && <Failure error={add.error} />}
    </>
  );
}

/** Notes of analysts to the thing that the API has at a path. */
export function Notes({ path, notes, takenAt }: NotesProps) {
  const again = useAgain(path);
  const drop = useMutation({
    mutationFn: (id: string) => remove(`${path}/notes/${id}`),
    onSuccess: again,
  });
  return (
    <Section title="Notes">
      <Stack gap="xs">
        {notes.map((note) => (
          <Group key={note.id} justify="space-between" align="flex-start" wrap="nowrap">
            <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
              {note.text}
              <Text span size="xs" c="dimmed">
                {' '}
                {note.author}, {formatTime(note.timeMs)}
              </Text>
            </Text>
            {takenAt === undefined && (
              <Button size="compact-xs" variant="subtle" onClick={() => drop.mutate(note.id)}>
                Remove
              </Button>
            )}
          </Group>
        ))}
        {takenAt === undefined ? (
          <NewNote path={path} />
        ) : (
          <Text size="sm">Notes to this recall are taken in the console of {takenAt}.</Text>
        )}
        {drop.error !== null && <Failure error={drop.error} />}
      </Stack>
    </Section>
  );
}
