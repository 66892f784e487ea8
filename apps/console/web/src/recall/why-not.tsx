import { Alert, Autocomplete, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DescribedItem, ExplainAnswer } from '../../../src/api-types.js';
import { get, post, withQuery } from '../api.js';
import { Failure } from '../ui/states.js';

const TYPING_MS = 250;

/** The meaning of the verdict, in a sentence. */
function sentence(answer: ExplainAnswer): string {
  const score = answer.score?.toFixed(3);
  switch (answer.verdict) {
    case 'returned':
      return `It is in the answer, at rank ${answer.rank}, with score ${score}.`;
    case 'pruned':
      return (
        `The search gave its path up in step ${(answer.step ?? 0) + 1}: there it ranked ` +
        `${answer.rank} with score ${score}, and the last that was kept had ` +
        `${answer.cutScore?.toFixed(3)}.`
      );
    case 'behind-sid-cap':
      return `Its path was found (score ${score}), but other items of its SID took the places.`;
    case 'behind-results':
      return `Its path was found (score ${score}), but better items filled the answer first.`;
    case 'behind-diversity-cap':
      return `Its path was found, but enough items share its ${answer.attribute} already.`;
    case 'not-eligible':
      return answer.clause?.includes('frequencyCaps[')
        ? `The user has had it as often as a cap allows: ${answer.clause}.`
        : `The eligibility of the request keeps it out: ${answer.clause}.`;
    case 'not-live':
      return `It is paused or removed, since change ${answer.notLiveSince} of the catalogue.`;
    default:
      return 'The catalogue of the recall has never had it. Check the ID.';
  }
}

/** Of all live items that the request may get, where a search was asked. */
function rankSentence({ exactRank, rankAtLeast }: ExplainAnswer): string {
  if (exactRank !== undefined)
    return ` Of all items that the request may get it is number ${exactRank}.`;
  if (rankAtLeast === undefined) return '';
  return ` At least ${rankAtLeast - 1} items that the request may get are better.`;
}

function Explanation({ answer }: { answer: ExplainAnswer }) {
  const { verdict, sid } = answer;
  return (
    <Alert color={verdict === 'returned' ? 'teal' : 'orange'} variant="light" title={verdict}>
      {sentence(answer)}
      {rankSentence(answer)}
      {sid.length > 0 &&
        ` Its SID is ${sid.join('-')}; the tree shows how far the search went with it.`}
    </Alert>
  );
}

const textOf = (item: DescribedItem) => `${item.itemId} · ${item.title}`;

interface WhyNotProps {
  readonly recallId: string;
  /** That recorded it; '' where there is no cluster. */
  readonly node: string;
  readonly canReplay: boolean;
  readonly onSid: (sid: readonly number[]) => void;
}

/** Why any item is in the recall, or is not. */
export function WhyNot({ recallId, node, canReplay, onSid }: WhyNotProps) {
  const [text, setText] = useState('');
  const [typed] = useDebouncedValue(text.trim(), TYPING_MS);
  const found = useQuery({
    queryKey: ['items', typed],
    enabled: typed !== '' && !typed.includes(' · '),
    queryFn: ({ signal }) =>
      get<{ items: DescribedItem[] }>(withQuery('items', { text: typed }), signal),
  });
  const asked = useMutation({
    mutationFn: () => {
      const itemId = (text.split(' · ')[0] ?? '').trim();
      const path = `recalls/${encodeURIComponent(recallId)}/explain`;
      return post<ExplainAnswer>(withQuery(path, { node }), { itemId });
    },
    onSuccess: ({ sid }) => {
      if (sid.length > 0) onSid(sid);
    },
  });
  return (
    <Stack gap="xs">
      <Title order={4}>Why not another one?</Title>
      {canReplay ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            asked.mutate();
          }}
        >
          <Group align="flex-end">
            <Autocomplete
              label="Item"
              placeholder="ID, or a part of the title"
              flex={1}
              data={[...new Set(found.data?.items.map(textOf) ?? [])]}
              filter={({ options }) => options}
              value={text}
              onChange={setText}
            />
            <Button type="submit" disabled={text.trim() === ''} loading={asked.isPending}>
              Explain
            </Button>
          </Group>
        </form>
      ) : (
        <Text size="sm" c="dimmed">
          The versions of this recall are no longer served, so it cannot be replayed.
        </Text>
      )}
      {asked.error !== null && <Failure error={asked.error} />}
      {asked.data !== undefined && <Explanation answer={asked.data} />}
    </Stack>
  );
}
