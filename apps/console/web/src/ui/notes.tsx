import { Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Note } from '../../../src/api-types.js';
import { post, remove } from '../api.js';
import { formatTime } from './format.js';
import { Failure } from './states.js';

/** Notes of analysts to the thing that the API has at a path. */
export function Notes({ path, notes }: { path: string; notes: readonly Note[] }) {
  const [text, setText] = useState('');
  const queries = useQueryClient();
  const again = () => queries.invalidateQueries({ queryKey: [path] });
  const add = useMutation({
    mutationFn: () => post<Note>(`${path}/notes`, { text }),
    onSuccess: () => {
      setText('');
      return again();
    },
  });
  const drop = useMutation({
    mutationFn: (id: string) => remove(`${path}/notes/${id}`),
    onSuccess: again,
  });
  return (
    <Paper withBorder p="sm">
      <Title order={4} mb="xs">
        Notes
      </Title>
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
            <Button size="compact-xs" variant="subtle" onClick={() => drop.mutate(note.id)}>
              Remove
            </Button>
          </Group>
        ))}
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
        {(add.error ?? drop.error) !== null && <Failure error={add.error ?? drop.error} />}
      </Stack>
    </Paper>
  );
}
