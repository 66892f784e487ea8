import { Anchor, Grid, Text } from '@mantine/core';
import { Link, useNavigate } from 'react-router';
import type { RecallPage } from '../../../src/api-types.js';
import { formatCount, formatShare } from '../ui/format.js';
import { Section } from '../ui/section.js';
import { Unanswered } from '../ui/unanswered.js';
import { useAsked } from '../ui/use-asked.js';
import { ItemTable } from './item-table.js';

const idsOf = ({ recall }: RecallPage) => recall.answer?.items.map(({ itemId }) => itemId) ?? [];

function titleOf({ request }: RecallPage['recall']): string {
  if (request.rank !== undefined) return 'Ranked';
  return request.valuation === undefined ? 'By likelihood' : 'By value';
}

function Side({ page }: { page: RecallPage }) {
  const navigate = useNavigate();
  const { id, answer, message } = page.recall;
  const address = `/recalls/${id}`;
  return (
    <Section
      title={titleOf(page.recall)}
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

/** Two recalls of the same user: without a part of the request, and with it. */
export function Beside({ plain, other }: { plain: string; other: string }) {
  const [left, right] = [
    useAsked<RecallPage>(`recalls/${plain}`),
    useAsked<RecallPage>(`recalls/${other}`),
  ];
  if (left.data === undefined) return <Unanswered title="Two recalls" asked={left} />;
  if (right.data === undefined) return <Unanswered title="Two recalls" asked={right} />;
  const [ids, others] = [idsOf(left.data), new Set(idsOf(right.data))];
  const both = ids.filter((id) => others.has(id)).length;
  const share = formatShare(ids.length === 0 ? 0 : both / ids.length);
  return (
    <Section
      title="Side by side"
      help={`${formatCount(both)} of ${formatCount(ids.length)} items are in both, ${share}.`}
    >
      <Grid>
        {[left.data, right.data].map((page) => (
          <Grid.Col key={page.recall.id} span={{ base: 12, lg: 6 }}>
            <Side page={page} />
          </Grid.Col>
        ))}
      </Grid>
    </Section>
  );
}
