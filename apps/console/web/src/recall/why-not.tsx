import { Alert, Anchor, Autocomplete, Button, Group, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DescribedItem, ExplainAnswer } from '../../../src/api-types.js';
import { get, post, withQuery } from '../api.js';
import { Failure } from '../ui/states.js';
import { refusalWords } from './eligibility-words.js';
import { sizeOf, ValueBar } from './value-bar.js';

const TYPING_MS = 250;

const attributesOf = (item: DescribedItem | undefined) =>
  item && (JSON.parse(item.attributes) as Readonly<Record<string, unknown>>);

/** The meaning of the verdict, in a sentence. */
function sentence(answer: ExplainAnswer, eligibility: string, item?: DescribedItem): string {
  const [score, cut] = [answer.score?.toFixed(3), answer.cutScore?.toFixed(3)];
  const value = (answer.ranking ?? answer).value?.value.toFixed(3);
  // A recall by value judges a path by the best value that lies at or below it.
  const by = answer.value === undefined ? `score ${score}` : `value ${value}`;
  switch (answer.verdict) {
    case 'returned':
      return `It is in the answer, at rank ${answer.rank}, with ${by}.`;
    case 'pruned':
      return (
        `The search gave its path up in step ${(answer.step ?? 0) + 1}: there it ranked ` +
        `${answer.rank} with ${score}, and the last that was kept had ${cut}` +
        `${answer.value === undefined ? '' : ' (highest value at or below a path)'}.`
      );
    case 'behind-sid-cap':
      return `Its path was found (${by}), but other items of its SID took the places.`;
    case 'behind-results':
      return `Its path was found (${by}), but better items filled the answer first.`;
    case 'behind-ranked':
      return `It was ranked, at place ${answer.rank}; better items filled the answer first.`;
    case 'behind-diversity-cap':
      return `Its path was found, but enough items share its ${answer.attribute} already.`;
    case 'not-eligible':
      return answer.clause?.includes('frequencyCaps[')
        ? `The user has had it as often as a cap allows: ${answer.clause}.`
        : refusalWords(answer.clause ?? '', eligibility, attributesOf(item));
    case 'not-live':
      return `It is paused or removed, since change ${answer.notLiveSince} of the catalogue.`;
    case 'no-value':
      return answer.ranking === undefined
        ? `The valuation excludes it: its ${answer.attribute} is absent, or has no logarithm.`
        : 'The valuation of the ranking excludes it.';
    case 'below-floor':
      return `Its value ${value} is below the floor ${cut}.`;
    default:
      return 'The catalogue of the recall has never had it. Check the ID.';
  }
}

/** The bid that would have brought an item in, beside its own. */
function bidSentence({ neededBid, value }: ExplainAnswer): string {
  if (neededBid === undefined) return '';
  const paced = value !== undefined && value.pace < 1 ? `, before its pace of ${value.pace}` : '';
  return ` A bid of ${neededBid.toPrecision(4)} would have brought it in${paced}.`;
}

/** Sentence on the rank among all live items that the request may get, where a search was asked. */
function rankSentence({ exactRank, rankAtLeast }: ExplainAnswer): string {
  if (exactRank !== undefined)
    return ` Of all items that the request may get it is number ${exactRank}.`;
  if (rankAtLeast === undefined) return '';
  return ` At least ${rankAtLeast - 1} items that the request may get are better.`;
}

/** Heads of an item that was ranked. */
function Ranked({
  ranking,
  rankedItems,
}: Required<Pick<ExplainAnswer, 'ranking' | 'rankedItems'>>) {
  if (ranking === undefined) return null;
  const { heads, value, recallRank } = ranking;
  const said = Object.entries(heads).map(([name, amount]) => `${name} ${amount.toPrecision(3)}`);
  return (
    <>
      {` The recall had it at place ${recallRank} of ${rankedItems} that were ranked: `}
      {said.join(', ')}.
      {value && <ValueBar worth={value} scale={sizeOf(value)} name="ranked value" />}
    </>
  );
}

function Explanation({
  answer,
  item,
  eligibility,
}: {
  answer: ExplainAnswer;
  item: DescribedItem | undefined;
  eligibility: string;
}) {
  const { verdict, sid, value, excludedItems = 0 } = answer;
  return (
    <Alert color={verdict === 'returned' ? 'teal' : 'orange'} variant="light" title={verdict}>
      {item !== undefined && <b>{item.title || item.itemId}: </b>}
      {sentence(answer, eligibility, item)}
      {bidSentence(answer)}
      {rankSentence(answer)}
      {excludedItems > 0 && ` The valuation excludes ${excludedItems} live and eligible items.`}
      {sid.length > 0 &&
        ` Its SID is ${sid.join('-')}; the tree shows how far the search went with it.`}
      {value !== undefined && <ValueBar worth={value} scale={sizeOf(value)} />}
      <Ranked ranking={answer.ranking} rankedItems={answer.rankedItems} />
    </Alert>
  );
}

const textOf = (item: DescribedItem) => `${item.itemId} · ${item.title}`;

/** Items that fit a text that is no ID, to choose from. */
function Choice({
  items,
  onChoose,
}: {
  items: readonly DescribedItem[];
  onChoose: (item: DescribedItem) => void;
}) {
  return (
    <Alert color="cyan" variant="light" title="Which one?" role="status">
      <Stack gap={4} align="flex-start">
        {items.map((item) => (
          <Anchor key={item.itemId} component="button" size="sm" onClick={() => onChoose(item)}>
            {textOf(item)}
          </Anchor>
        ))}
      </Stack>
    </Alert>
  );
}

interface WhyNotProps {
  readonly recallId: string;
  /** That recorded it; '' where there is no cluster. */
  readonly node: string;
  readonly canReplay: boolean;
  /** Eligibility of the request, as JSON; '' for none. */
  readonly eligibility: string;
  readonly onSid: (sid: readonly number[]) => void;
}

interface Asked {
  readonly answer?: ExplainAnswer;
  readonly item?: DescribedItem;
  /** The text fits several titles. */
  readonly choices?: readonly DescribedItem[];
}

const find = async (text: string, signal?: AbortSignal) =>
  (await get<{ items: DescribedItem[] }>(withQuery('items', { text }), signal)).items;

/** The item of an ID, else of the only title that has the text, else those to choose from. */
async function ask(props: WhyNotProps, text: string): Promise<Asked> {
  const path = withQuery(`recalls/${encodeURIComponent(props.recallId)}/explain`, {
    node: props.node,
  });
  const itemId = (text.split(' · ')[0] ?? '').trim();
  const found = await find(itemId);
  const exact = found.find((item) => item.itemId === itemId);
  if (exact === undefined && found.length > 1) return { choices: found };
  const item = exact ?? found[0];
  const answer = await post<ExplainAnswer>(path, { itemId: item?.itemId ?? itemId });
  return item === undefined ? { answer } : { answer, item };
}

/** Why any item is in the recall, or is not. */
export function WhyNot(props: WhyNotProps) {
  const [text, setText] = useState('');
  const [typed] = useDebouncedValue(text.trim(), TYPING_MS);
  const found = useQuery({
    queryKey: ['items', typed],
    enabled: typed !== '' && !typed.includes(' · '),
    queryFn: ({ signal }) => find(typed, signal),
  });
  const asked = useMutation({
    mutationFn: (of: string) => ask(props, of),
    onSuccess: ({ answer }) => {
      if (answer !== undefined && answer.sid.length > 0) props.onSid(answer.sid);
    },
  });
  if (!props.canReplay) {
    return (
      <Text size="sm" c="dimmed">
        The versions of this recall are no longer served, so it cannot be replayed.
      </Text>
    );
  }
  const { answer, item, choices } = asked.data ?? {};
  const choose = (one: DescribedItem) => {
    setText(textOf(one));
    asked.mutate(one.itemId);
  };
  return (
    <Stack gap="xs">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          asked.mutate(text);
        }}
      >
        <Group align="flex-end">
          <Autocomplete
            label="Item"
            placeholder="ID, or a part of the title"
            flex={1}
            data={[...new Set(found.data?.map(textOf) ?? [])]}
            filter={({ options }) => options}
            value={text}
            onChange={setText}
          />
          <Button type="submit" disabled={text.trim() === ''} loading={asked.isPending}>
            Explain
          </Button>
        </Group>
      </form>
      {asked.error !== null && <Failure error={asked.error} />}
      {choices !== undefined && <Choice items={choices} onChoose={choose} />}
      {answer !== undefined && (
        <Explanation answer={answer} item={item} eligibility={props.eligibility} />
      )}
    </Stack>
  );
}
