import { Anchor, Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import type { AnalysisItem, ItemsPage } from '../../../src/api-types.js';
import { get } from '../api.js';
import { attributesText } from '../recall/item-table.js';
import { formatCount } from '../ui/format.js';
import { ItemLink } from '../ui/item-column.js';
import { PageTitle, Section } from '../ui/section.js';
import { Empty, Failure, Waiting } from '../ui/states.js';
import { useFilter } from './filter.js';

const PAGE = 200;
const ROW = 56;
/** Rows from the end at which the next page is asked for. */
const AHEAD = 40;
const FACET_VALUES = 8;

/** The items that fit the address, page by page. */
function useItems() {
  const { query } = useFilter();
  const asked = new URLSearchParams({ limit: String(PAGE) });
  for (const name of ['text', 'live', 'catalogue']) {
    const value = query.get(name);
    if (value !== null && value !== '') asked.set(name, value);
  }
  for (const value of query.getAll('attribute')) asked.append('attribute', value);
  return useInfiniteQuery({
    queryKey: ['items', asked.toString()],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      get<ItemsPage>(`analysis/items?${asked}&offset=${pageParam}`, signal),
    getNextPageParam: (last, all) => {
      const had = all.reduce((sum, { items }) => sum + items.length, 0);
      return last.items.length === 0 || had >= last.total ? undefined : had;
    },
  });
}

function Row({ item }: { item: AnalysisItem }) {
  return (
    <>
      <div>
        <ItemLink itemId={item.itemId} title={item.title} />
        {!item.isLive && (
          <Text span size="xs" c="dimmed">
            {' '}
            not live
          </Text>
        )}
      </div>
      <Text size="xs" c="dimmed" lineClamp={1} title={attributesText(item.attributes)}>
        {item.itemId} · {item.sid} · {attributesText(item.attributes)}
      </Text>
    </>
  );
}

/** Only the rows that are seen are in the page, however many there are. */
function VirtualList({
  items,
  total,
  more,
}: {
  items: readonly AnalysisItem[];
  total: number;
  more: () => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= items.length - AHEAD && items.length < total) more();
  }, [last, items.length, total, more]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section ref={frame} className="virtual" tabIndex={0} aria-label="Items">
      <ul style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const item = items[index];
          return (
            item !== undefined && (
              <li
                key={item.itemId}
                style={{ transform: `translateY(${start}px)`, height: ROW }}
                aria-setsize={total}
                aria-posinset={index + 1}
              >
                <Row item={item} />
              </li>
            )
          );
        })}
      </ul>
    </section>
  );
}

/** The most frequent values of each attribute; a click narrows the list. */
function Facets({ facets }: Pick<ItemsPage, 'facets'>) {
  const { query, add, drop } = useFilter();
  const given = query.getAll('attribute');
  return (
    <Stack gap="md">
      {facets.map(({ name, values }) => (
        <div key={name}>
          <Text size="sm" fw={600}>
            {name}
          </Text>
          {values.slice(0, FACET_VALUES).map(({ value, count }) => {
            const filter = `${name}=${value}`;
            const isOn = given.includes(filter);
            return (
              <Group key={value} justify="space-between" gap="xs" wrap="nowrap">
                <Anchor
                  component="button"
                  size="xs"
                  ta="start"
                  aria-pressed={isOn}
                  fw={isOn ? 700 : 400}
                  onClick={() => (isOn ? drop : add)('attribute', filter)}
                >
                  {value}
                </Anchor>
                <Text size="xs" c="dimmed" className="tabular">
                  {formatCount(count)}
                </Text>
              </Group>
            );
          })}
        </div>
      ))}
    </Stack>
  );
}

function SearchFields() {
  const { query, set, drop } = useFilter();
  const [text, setText] = useState(query.get('text') ?? '');
  return (
    <Group gap="xs" align="flex-end">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          set({ text });
        }}
      >
        <Group gap="xs" align="flex-end">
          <TextInput
            size="xs"
            label="ID, or a part of the title"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Button type="submit" size="xs" variant="default">
            Find
          </Button>
        </Group>
      </form>
      <SegmentedControl
        size="xs"
        aria-label="Live or not"
        value={query.get('live') ?? ''}
        onChange={(live) => set({ live })}
        data={[
          { value: '', label: 'all' },
          { value: 'true', label: 'live' },
          { value: 'false', label: 'not live' },
        ]}
      />
      {query.getAll('attribute').map((value) => (
        <Button
          key={value}
          size="xs"
          variant="default"
          aria-label={`Take out ${value}`}
          onClick={() => drop('attribute', value)}
        >
          {value.replace('=', ' ')} ✕
        </Button>
      ))}
    </Group>
  );
}

export function View() {
  const asked = useItems();
  const { fetchNextPage, isFetchingNextPage } = asked;
  const pages = asked.data?.pages ?? [];
  const [first] = pages;
  const items = pages.flatMap((page) => page.items);
  const more = () => {
    if (!isFetchingNextPage) void fetchNextPage();
  };
  return (
    <>
      <PageTitle title="Items">Items that can be recalled, and those that could before.</PageTitle>
      <Stack>
        <SearchFields />
        {asked.error !== null && <Failure error={asked.error} retry={() => asked.refetch()} />}
        {asked.isPending && <Waiting rows={10} />}
        {first !== undefined && (
          <div className="with-facets">
            <Section title={`${formatCount(first.total)} items`}>
              {first.total === 0 ? (
                <Empty title="No item fits">Take a value or the text out.</Empty>
              ) : (
                <VirtualList items={items} total={first.total} more={more} />
              )}
            </Section>
            <Section title="Narrow to">
              <Facets facets={first.facets} />
            </Section>
          </div>
        )}
      </Stack>
    </>
  );
}
