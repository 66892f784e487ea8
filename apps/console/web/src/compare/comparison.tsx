import { Code, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from 'react-router';
import type { ComparisonPage } from '../../../src/api-types.js';
import { remove } from '../api.js';
import { formatTime } from '../ui/format.js';
import { Notes } from '../ui/notes.js';
import { RemoveButton } from '../ui/question.js';
import { PageTitle, Section } from '../ui/section.js';
import { Unanswered } from '../ui/unanswered.js';
import { useAsked } from '../ui/use-asked.js';
import { ComparisonResult } from './comparison-result.js';
import { NO_RUN, withLine } from './run.js';

function Side({ name, settings }: { name: string; settings: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(settings);
  return (
    <Section title={name}>
      {entries.length === 0 && <Text size="sm">As the service is configured.</Text>}
      {entries.map(([field, value]) => (
        <Text size="sm" key={field}>
          {field}: <Code>{JSON.stringify(value)}</Code>
        </Text>
      ))}
    </Section>
  );
}

/** A comparison as it was saved. */
export function View() {
  const { id = '' } = useParams();
  const path = `comparisons/${encodeURIComponent(id)}`;
  const asked = useAsked<ComparisonPage>(path);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const drop = async () => {
    await remove(path);
    await navigate('/compare');
    await queries.invalidateQueries({ queryKey: ['comparisons'] });
  };
  if (asked.data === undefined) return <Unanswered title="A saved comparison" asked={asked} />;
  const { sides, lines, notes, timeMs, author } = asked.data;
  return (
    <>
      <PageTitle
        title="A saved comparison"
        actions={
          <RemoveButton what="this comparison" author={author} act={drop}>
            <Text size="sm">It is removed with its notes, for everybody.</Text>
          </RemoveButton>
        }
      >
        {formatTime(timeMs)}, by {author}. It is shown as it was answered; what is served may have
        moved on.
      </PageTitle>
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Side name="Left" settings={sides.left} />
          <Side name="Right" settings={sides.right} />
        </SimpleGrid>
        <ComparisonResult run={lines.reduce(withLine, NO_RUN)} />
        <Notes path={path} notes={notes} />
      </Stack>
    </>
  );
}
