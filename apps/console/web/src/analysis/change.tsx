import { Anchor, Button, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import type {
  ChangePart,
  ListedRecall,
  RecallList,
  RecallPage,
  UserChangePage,
} from '../../../src/api-types.js';
import { withQuery } from '../api.js';
import { adapterText } from '../recall/recalls.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Figure, Figures } from '../ui/figure.js';
import { formatShare, formatTime } from '../ui/format.js';
import { ITEM_COLUMN } from '../ui/item-column.js';
import { PageTitle, Section } from '../ui/section.js';
import { Empty, Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { UserField } from '../ui/user-field.js';
import { Answered } from './page.js';

const PART_WORDS: Readonly<Record<ChangePart, string>> = {
  history: 'Behaviours since',
  catalogue: 'The catalogue',
  adapter: 'The adapter',
};
const RECALLS_SHOWN = '50';

/** A recall as it stands in the lists to choose from. */
function labelOf(recall: ListedRecall): string {
  const adapter = adapterText(recall);
  const version = adapter === 'none' ? 'no adapter' : adapter;
  return `${formatTime(recall.timeMs)}, ${version}, change ${recall.catalogueSequence}`;
}

function Chooser({ userId }: { userId: string }) {
  const [query, setQuery] = useSearchParams();
  const asked = useAsked<RecallList>(withQuery('recalls', { userId, limit: RECALLS_SHOWN }));
  if (asked.error !== null) return <Failure error={asked.error} retry={() => asked.refetch()} />;
  if (asked.data === undefined) return <Waiting rows={2} />;
  const recalls = asked.data.recalls.filter(({ code }) => code === 'OK');
  if (recalls.length < 2) {
    return (
      <Empty title={`${recalls.length} recorded recalls of user ${userId}`}>
        Two are needed.{' '}
        <Anchor component={Link} to={withQuery('/try', { user: userId })}>
          Try one now
        </Anchor>
        , to set it beside an earlier one.
      </Empty>
    );
  }
  const data = recalls.map((recall) => ({ value: recall.id, label: labelOf(recall) }));
  const side = (name: 'left' | 'right', label: string, first: string) => (
    <Select
      label={label}
      size="xs"
      data={data}
      allowDeselect={false}
      value={query.get(name) ?? first}
      onChange={(id) => setQuery(Object.assign(Object.fromEntries(query), { [name]: id ?? '' }))}
    />
  );
  const [newest = '', oldest = ''] = [recalls[0]?.id, recalls.at(-1)?.id];
  const [left, right] = [query.get('left') ?? oldest, query.get('right') ?? newest];
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {side('left', 'Earlier recall', oldest)}
        {side('right', 'Later recall', newest)}
      </SimpleGrid>
      {left === right ? (
        <Text size="sm">Choose two different recalls.</Text>
      ) : (
        <Beside left={left} right={right} />
      )}
    </Stack>
  );
}

interface Placed {
  readonly itemId: string;
  readonly title: string;
  readonly leftRank?: number;
  readonly rightRank?: number;
}

function placedOf(left: RecallPage, right: RecallPage): readonly Placed[] {
  const later = right.recall.answer?.items ?? [];
  const earlier = left.recall.answer?.items ?? [];
  const ranks = new Map(earlier.map(({ itemId, rank }) => [itemId, rank]));
  const both = later.map(({ itemId, title, rank }): Placed => {
    const leftRank = ranks.get(itemId);
    const placed = { itemId, title, rightRank: rank };
    return leftRank === undefined ? placed : Object.assign(placed, { leftRank });
  });
  const isLater = new Set(later.map(({ itemId }) => itemId));
  const lost = earlier
    .filter(({ itemId }) => !isLater.has(itemId))
    .map(({ itemId, title, rank }): Placed => ({ itemId, title, leftRank: rank }));
  return [...both, ...lost];
}

function changeOf({ leftRank, rightRank }: Placed): string {
  if (leftRank === undefined) return 'gained';
  if (rightRank === undefined) return 'lost';
  const shift = leftRank - rightRank;
  return shift === 0 ? 'same' : `${shift > 0 ? 'up' : 'down'} ${Math.abs(shift)}`;
}

const COLUMNS: readonly Column<Placed>[] = [
  ITEM_COLUMN,
  {
    key: 'left',
    label: 'Earlier rank',
    isNumber: true,
    value: ({ leftRank }) => leftRank,
    cell: ({ leftRank }) => leftRank ?? '–',
  },
  {
    key: 'right',
    label: 'Later rank',
    isNumber: true,
    value: ({ rightRank }) => rightRank,
    cell: ({ rightRank }) => rightRank ?? '–',
  },
  { key: 'change', label: 'Change', value: changeOf, cell: changeOf },
];

/** Each part's share of the distance, as bars that add up to it. */
function Waterfall({ page }: { page: UserChangePage }) {
  const parts = page.shares.map(({ part, share, isAsked, reason }) => ({
    name: PART_WORDS[part],
    share,
    note: isAsked ? '' : reason || 'the same in both',
  }));
  const rest = { name: 'The rest: model, scene, settings', share: page.rest, note: '' };
  const most = Math.max(0.01, ...[...parts, rest].map(({ share }) => Math.abs(share)));
  return (
    <dl className="waterfall">
      {[...parts, rest].map(({ name, share, note }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span
              aria-hidden="true"
              className={share < 0 ? 'bar less' : 'bar'}
              style={{ width: `${(Math.abs(share) / most) * 60}%` }}
            />
            {(share * 100).toFixed(1)} points{note !== '' && ` (${note})`}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Why({ left, right }: { left: string; right: string }) {
  const asked = useAsked<UserChangePage>(withQuery('analysis/change', { left, right }));
  return (
    <Answered asked={asked}>
      {(page) => (
        <Stack>
          <Figures>
            <Figure
              label="Distance of the two"
              value={formatShare(page.distance)}
              note="0 %: the same items"
            />
            <Figure label="Gained" value={String(page.gained.length)} note="items" />
            <Figure label="Lost" value={String(page.lost.length)} note="items" />
          </Figures>
          <Section
            title="Why"
            help="Asked again with each part of either: its mean share of the distance (Shapley)."
          >
            <Waterfall page={page} />
          </Section>
        </Stack>
      )}
    </Answered>
  );
}

function Beside({ left, right }: { left: string; right: string }) {
  const [earlier, later] = [
    useAsked<RecallPage>(`recalls/${encodeURIComponent(left)}`),
    useAsked<RecallPage>(`recalls/${encodeURIComponent(right)}`),
  ];
  return (
    <>
      <Why left={left} right={right} />
      <Section
        title="Side by side"
        actions={
          <Group gap="sm">
            <Anchor component={Link} size="sm" to={`/recalls/${left}`}>
              The earlier recall
            </Anchor>
            <Anchor component={Link} size="sm" to={`/recalls/${right}`}>
              The later recall
            </Anchor>
          </Group>
        }
      >
        {earlier.data !== undefined && later.data !== undefined ? (
          <DataTable
            label="Items of both recalls"
            rows={placedOf(earlier.data, later.data)}
            columns={COLUMNS}
            keyOf={({ itemId }) => itemId}
            minWidth={340}
          />
        ) : (
          <Waiting />
        )}
      </Section>
    </>
  );
}

export function View() {
  const [query, setQuery] = useSearchParams();
  const userId = query.get('user') ?? '';
  const [text, setText] = useState(userId);
  return (
    <>
      <PageTitle title="Change of a user">
        Two recorded recalls of a user side by side, and what made the difference.
      </PageTitle>
      <Stack>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            setQuery({ user: text });
          }}
        >
          <Group align="flex-end">
            <UserField value={text} onChange={setText} />
            <Button type="submit" variant="default" disabled={text === ''}>
              Show
            </Button>
          </Group>
        </form>
        {userId === '' ? (
          <Empty title="No user is chosen">Choose one above.</Empty>
        ) : (
          <Chooser userId={userId} key={userId} />
        )}
      </Stack>
    </>
  );
}
