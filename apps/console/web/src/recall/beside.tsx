import { Anchor, Grid, Text } from '@mantine/core';
import { Link, useNavigate } from 'react-router';
import type { RecallPage } from '../../../src/api-types.js';
import { formatCount, formatShare } from '../ui/format.js';
import { Section } from '../ui/section.js';
import { Unanswered } from '../ui/unanswered.js';
import { useAsked } from '../ui/use-asked.js';
import { ItemTable } from './item-table.js';

const idsOf = ({ recall }: RecallPage) => recall.answer?.items.map(({ itemId }) => itemId) ?? [];

function Side({ title, page }: { title: string; page: RecallPage }) {
  const navigate = useNavigate();
  const { id, answer, message } = page.recall;
  const address = `/recalls/${id}`;
  return (
    <Section
      title={title}
      actions={
        <Anchor component={Link} to={address} size="sm">
          The whole recall
        </Anchor>
      }
    >
      {answer === undefined ? (
        <Text size="sm">{message}</Text>
      ) : (
        <ItemTable
          items={answer.items}
          described={page.described}
          changed={page.changedSince}
          sid={undefined}
          onChoose={() => navigate(address)}
        />
      )}
    </Section>
  );
}

/** Two recalls of the same user: by likelihood and by value. */
export function Beside({ likelihood, value }: { likelihood: string; value: string }) {
  const [left, right] = [
    useAsked<RecallPage>(`recalls/${likelihood}`),
    useAsked<RecallPage>(`recalls/${value}`),
  ];
  if (left.data === undefined) return <Unanswered title="By likelihood" asked={left} />;
  if (right.data === undefined) return <Unanswered title="By value" asked={right} />;
  const [ids, others] = [idsOf(left.data), new Set(idsOf(right.data))];
  const both = ids.filter((id) => others.has(id)).length;
  const share = formatShare(ids.length === 0 ? 0 : both / ids.length);
  return (
    <Section
      title="Side by side"
      help={`${formatCount(both)} of ${formatCount(ids.length)} items are in both, ${share}.`}
    >
      <Grid>
        {[['By likelihood', left.data] as const, ['By value', right.data] as const].map(
          ([title, page]) => (
            <Grid.Col key={title} span={{ base: 12, lg: 6 }}>
              <Side title={title} page={page} />
            </Grid.Col>
          ),
        )}
      </Grid>
    </Section>
  );
}
