import { Anchor, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { ListedRecall, RecallList } from '../../../src/api-types.js';
import { withQuery } from '../api.js';
import { type Column, DataTable, numberColumn } from '../ui/data-table.js';
import { formatCount, formatTime, formatUs, shortDigest } from '../ui/format.js';
import { Mark } from '../ui/mark.js';
import { PageTitle } from '../ui/section.js';
import { Empty, Failure, UnreachedNodes, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { apiQuery, PAGE, RecallFilters } from './recall-filters.js';
import { Sets, ShownSet } from './recall-sets.js';

const REFRESH_MS = 5000;

export const sceneText = (scene: Readonly<Record<string, string>>) =>
  Object.entries(scene)
    .map(([key, value]) => `${key} ${value}`)
    .join(', ');

/** The adapter that answered. */
export function adapterText({ versions }: ListedRecall): string {
  if (versions === undefined) return '–';
  const { adapter, adapterName } = versions;
  return adapter === '' ? 'none' : `${adapterName} ${shortDigest(adapter)}`;
}

type Choose = (id: string, isChosen: boolean) => void;

function firstColumns(chosen: ReadonlySet<string>, choose: Choose): Column<ListedRecall>[] {
  return [
    {
      key: 'chosen',
      label: 'Choose',
      cell: ({ id, timeMs }) => (
        <Checkbox
          size="xs"
          aria-label={`Choose the recall of ${formatTime(timeMs)}`}
          checked={chosen.has(id)}
          onChange={(event) => choose(id, event.currentTarget.checked)}
        />
      ),
    },
    {
      key: 'time',
      label: 'Time',
      value: ({ timeMs }) => timeMs,
      cell: ({ id, node, timeMs }) => (
        <Anchor
          component={Link}
          size="sm"
          to={withQuery(`/recalls/${id}`, { node })}
          style={{ whiteSpace: 'nowrap' }}
        >
          {formatTime(timeMs)}
        </Anchor>
      ),
    },
    {
      key: 'user',
      label: 'User',
      value: ({ userId }) => userId,
      cell: ({ userId }) => (userId === '' ? <Text c="dimmed">a history</Text> : userId),
    },
  ];
}

const VERSION_COLUMNS: Column<ListedRecall>[] = [
  {
    key: 'scene',
    label: 'Scene',
    value: ({ scene }) => sceneText(scene),
    cell: ({ scene }) => sceneText(scene) || '–',
  },
  {
    key: 'adapter',
    label: 'Adapter',
    value: adapterText,
    cell: (recall) => <span title={recall.versions?.adapter}>{adapterText(recall)}</span>,
  },
  numberColumn('catalogue', 'Change', ({ catalogueSequence }) => catalogueSequence, formatCount),
];

const LAST_COLUMNS: Column<ListedRecall>[] = [
  {
    key: 'source',
    label: 'Recorded',
    value: ({ source, reason }) => `${source} ${reason}`,
    cell: ({ source, reason }) => (source === 'console' ? 'tried here' : `by ${reason}`),
  },
  numberColumn('items', 'Items', ({ itemCount }) => itemCount, formatCount),
  numberColumn('prompt', 'Prompt tokens', ({ promptTokens }) => promptTokens, formatCount),
  numberColumn(
    'saved',
    'of them saved',
    ({ promptTokens, computedTokens }) => promptTokens - computedTokens,
    formatCount,
  ),
  numberColumn('took', 'Took', ({ totalUs }) => totalUs, formatUs),
];

/** Columns that say the same in every row are left out. */
function middleColumns(recalls: readonly ListedRecall[]): Column<ListedRecall>[] {
  const differ = (of: (recall: ListedRecall) => string, usual: string) =>
    recalls.some((recall) => of(recall) !== usual);
  const outcome: Column<ListedRecall> = {
    key: 'outcome',
    label: 'Outcome',
    value: ({ code }) => code,
    cell: ({ code }) => <Mark color={code === 'OK' ? 'teal' : 'red'}>{code}</Mark>,
  };
  const node: Column<ListedRecall> = {
    key: 'node',
    label: 'Node',
    value: (recall) => recall.node,
  };
  return [
    ...(differ(({ code }) => code, 'OK') ? [outcome] : []),
    ...(differ((recall) => recall.node, '') ? [node] : []),
  ];
}

function RecallTable({ recalls }: { recalls: readonly ListedRecall[] }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const columns = useMemo(() => {
    const choose: Choose = (id, isChosen) => {
      setChosen((before) => {
        const next = new Set(before);
        if (isChosen) next.add(id);
        else next.delete(id);
        return next;
      });
    };
    const first = firstColumns(chosen, choose);
    return [...first, ...middleColumns(recalls), ...VERSION_COLUMNS, ...LAST_COLUMNS];
  }, [recalls, chosen]);
  return (
    <Stack gap="xs">
      <Sets chosen={[...chosen]} />
      <DataTable
        label="Recalls"
        rows={recalls}
        columns={columns}
        keyOf={({ node, id }) => `${node} ${id}`}
        isChosen={({ id }) => chosen.has(id)}
        minWidth={900}
      />
    </Stack>
  );
}

/** To the next part of the list, and back to its beginning. */
function Pages({ recalls }: { recalls: readonly ListedRecall[] }) {
  const [query] = useSearchParams();
  const isByTime = query.get('set') === null && (query.get('order') ?? 'time') === 'time';
  const last = recalls.at(-1);
  const offset = Number(query.get('offset') ?? 0);
  const at = (changes: Record<string, string | undefined>) =>
    withQuery('/recalls', Object.assign(Object.fromEntries(query), changes));
  // The next page begins with the last millisecond of this one, which may have more.
  const isOneTime = recalls[0]?.timeMs === last?.timeMs;
  const next = isByTime
    ? at({ before: String((last?.timeMs ?? 0) + (isOneTime ? 0 : 1)) })
    : at({ offset: String(offset + PAGE) });
  const isFirst = isByTime ? query.get('before') === null : offset === 0;
  return (
    <Group>
      {!isFirst && (
        <Button
          component={Link}
          size="xs"
          variant="default"
          to={at({ before: undefined, offset: undefined })}
        >
          To the beginning
        </Button>
      )}
      {recalls.length === PAGE && (
        <Button component={Link} size="xs" variant="default" to={next}>
          {isByTime ? 'Older' : 'Next'}
        </Button>
      )}
      <Text size="sm" c="dimmed">
        {formatCount(recalls.length)} shown
      </Text>
    </Group>
  );
}

/** A list that reads more than the newest files is not asked for again by itself. */
const isCheap = (asked: Readonly<Record<string, string | undefined>>) =>
  !['adapter', 'scene', 'change', 'minUs', 'maxUs', 'order', 'beforeMs'].some(
    (name) => asked[name] !== undefined,
  );

export function View() {
  const [query] = useSearchParams();
  const asked = apiQuery(query);
  const set = query.get('set');
  const everyMs = isCheap(asked) ? REFRESH_MS : undefined;
  const list = useAsked<RecallList>(withQuery('recalls', asked), everyMs);
  const recalls = list.data?.recalls;
  return (
    <>
      <PageTitle title="Recorded recalls">
        Served recalls are recorded when they ask for it (&quot;inspect&quot;), when their user is
        watched, or by chance (inspection.percent).
      </PageTitle>
      <Stack gap="sm">
        <RecallFilters />
        {set !== null && <ShownSet name={set} found={recalls?.length ?? 0} />}
        {list.error !== null && <Failure error={list.error} retry={() => list.refetch()} />}
        {list.isPending && <Waiting />}
        {list.data !== undefined && list.data.unreached.length > 0 && (
          <UnreachedNodes unreached={list.data.unreached} />
        )}
        {recalls?.length === 0 && (
          <Empty title="No recall fits">
            <Anchor component={Link} to="/try">
              Try one
            </Anchor>
            , or ask for a recall with &quot;inspect&quot;: true.
          </Empty>
        )}
        {recalls !== undefined && recalls.length > 0 && (
          <>
            <RecallTable recalls={recalls} />
            <Pages recalls={recalls} />
          </>
        )}
      </Stack>
    </>
  );
}
