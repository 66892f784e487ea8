import { Button, Code, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from 'react-router';
import type { ComparisonPage } from '../../../src/api-types.js';
import { remove } from '../api.js';
import { formatTime } from '../ui/format.js';
import { Notes } from '../ui/notes.js';
import { Failure, PageTitle, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { ComparisonResult, NO_RUN, withLine } from './comparison-result.js';

function Side({ name, settings }: { name: string; settings: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(settings);
  return (
    <Paper withBorder p="sm">
      <Title order={4} mb="xs">
        {name}
      </Title>
      {entries.length === 0 && <Text size="sm">As the service is configured.</Text>}
      {entries.map(([field, value]) => (
        <Text size="sm" key={field}>
          {field}: <Code>{JSON.stringify(value)}</Code>
        </Text>
      ))}
    </Paper>
  );
}

/** A comparison as it was saved. */
export function View() {
  const { id = '' } = useParams();
  const path = `comparisons/${encodeURIComponent(id)}`;
  const asked = useAsked<ComparisonPage>(path);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const drop = useMutation({
    mutationFn: () => remove(path),
    onSuccess: async () => {
      await navigate('/compare');
      return queries.invalidateQueries({ queryKey: ['comparisons'] });
    },
  });
  if (asked.error !== null) return <Failure error={asked.error} retry={() => asked.refetch()} />;
  if (asked.data === undefined) return <Waiting rows={10} />;
  const { sides, lines, notes, timeMs, author } = asked.data;
  return (
    <>
      <Group justify="space-between" align="flex-start">
        <PageTitle title="A saved comparison">
          {formatTime(timeMs)}, by {author}. It is shown as it was answered; what is served may have
          moved on.
        </PageTitle>
        <Button variant="default" size="xs" loading={drop.isPending} onClick={() => drop.mutate()}>
          Remove
        </Button>
      </Group>
      <Stack>
        {drop.error !== null && <Failure error={drop.error} />}
        <SimpleGrid cols={2}>
          <Side name="Left" settings={sides.left} />
          <Side name="Right" settings={sides.right} />
        </SimpleGrid>
        <ComparisonResult run={lines.reduce(withLine, NO_RUN)} />
        <Notes path={path} notes={notes} />
      </Stack>
    </>
  );
}
