import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { SavedQuestion } from '../../../src/api-types.js';
import { post, remove } from '../api.js';
import { formatTime } from '../ui/format.js';
import { RemoveButton } from '../ui/question.js';
import { Failure } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import type { HistoryEntry } from './history.js';

function useAgain() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['questions'] });
}

function SaveField({ sql }: { sql: string }) {
  const [name, setName] = useState('');
  const again = useAgain();
  const save = useMutation({
    mutationFn: () => post<SavedQuestion>('questions', { name: name.trim(), sql }),
    onSuccess: () => {
      setName('');
      return again();
    },
  });
  return (
    <>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          label="Save it as"
          size="xs"
          flex={1}
          miw={0}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button
          size="xs"
          variant="default"
          disabled={name.trim() === '' || sql.trim() === ''}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          Save
        </Button>
      </Group>
      {save.error !== null && <Failure error={save.error} />}
    </>
  );
}

/** Questions that anybody has saved: a click puts one into the editor. */
export function SavedQuestions({
  sql,
  onChoose,
}: {
  sql: string;
  onChoose: (sql: string) => void;
}) {
  const asked = useAsked<{ questions: SavedQuestion[] }>('questions');
  const again = useAgain();
  const drop = async (gone: string) => {
    await remove(`questions/${encodeURIComponent(gone)}`);
    await again();
  };
  return (
    <Stack gap="xs">
      <SaveField sql={sql} />
      {asked.data?.questions.length === 0 && (
        <Text size="sm" c="dimmed">
          None yet. Saved ones are seen by all who use this console.
        </Text>
      )}
      {asked.data?.questions.map((question) => (
        <Group key={question.name} justify="space-between" gap="xs" wrap="nowrap">
          <Anchor
            component="button"
            size="sm"
            ta="start"
            title={`${question.author}, ${formatTime(question.timeMs)}\n\n${question.sql}`}
            onClick={() => onChoose(question.sql)}
          >
            {question.name}
          </Anchor>
          <RemoveButton
            what={`the question ${question.name}`}
            author={question.author}
            act={() => drop(question.name)}
          >
            <Text size="sm">It is removed for everybody.</Text>
          </RemoveButton>
        </Group>
      ))}
    </Stack>
  );
}

/** Questions of this browser, newest first. */
export function AskedBefore({
  entries,
  onChoose,
}: {
  entries: readonly HistoryEntry[];
  onChoose: (sql: string) => void;
}) {
  if (entries.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Nothing has been asked in this browser.
      </Text>
    );
  }
  return (
    <Stack gap={4}>
      {entries.map(({ sql, timeMs, outcome }) => (
        <Anchor
          key={timeMs}
          component="button"
          size="xs"
          ta="start"
          title={sql}
          onClick={() => onChoose(sql)}
        >
          <Text size="xs" truncate>
            {sql.replace(/\s+/g, ' ').slice(0, 80)}
          </Text>
          <Text size="xs" c="dimmed">
            {formatTime(timeMs)}, {outcome}
          </Text>
        </Anchor>
      ))}
    </Stack>
  );
}
