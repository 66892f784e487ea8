import { Button, Text } from '@mantine/core';
import type { DescribedItem, RecordedRecall } from '../../../src/api-types.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { formatShare } from '../ui/format.js';
import { ItemLink } from '../ui/item-column.js';
import { Mark } from '../ui/mark.js';
import { scaleOf, ValueBar } from './value-bar.js';

type Items = NonNullable<RecordedRecall['answer']>['items'];
type Item = Items[number];

/** Whole: what a table cuts, nobody can read. */
export function attributesText(attributes: string): string {
  const entries = Object.entries(JSON.parse(attributes) as Record<string, unknown>);
  const said = (value: unknown) => (Array.isArray(value) ? value.join(', ') : String(value));
  return entries.map(([name, value]) => `${name} ${said(value)}`).join(' · ');
}

function NamedItem({
  item: { itemId, title, explored, propensity },
  described,
  isChanged,
}: {
  item: Item;
  described: DescribedItem | undefined;
  isChanged: boolean;
}) {
  const attributes =
    described === undefined ? 'no longer in the catalogue' : attributesText(described.attributes);
  return (
    <>
      <ItemLink itemId={itemId} title={title} />
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {itemId} · {attributes}
      </Text>
      {explored === true && (
        <Mark
          color="grape"
          title="Drawn by chance; the propensity is the probability with which it came in."
        >
          explored, propensity {propensity === undefined ? 'not known' : formatShare(propensity)}
        </Mark>
      )}
      {isChanged && (
        <Mark color="orange" title="Its title or attributes are others today, or it has gone.">
          changed since
        </Mark>
      )}
    </>
  );
}

/** Where a recall went by value. */
function valueColumns(items: Items): Column<Item>[] {
  if (items.every(({ value }) => value === undefined)) return [];
  const scale = scaleOf(items);
  return [
    {
      key: 'value',
      label: 'Value',
      value: ({ value }) => value?.value,
      cell: ({ value }) => value !== undefined && <ValueBar worth={value} scale={scale} />,
    },
  ];
}

function columnsOf(
  items: Items,
  described: Readonly<Record<string, DescribedItem>>,
  changed: readonly string[],
  onChoose: (sid: readonly number[]) => void,
): Column<Item>[] {
  return [
    {
      key: 'rank',
      label: 'Rank',
      isNumber: true,
      value: ({ rank }) => rank,
      cell: ({ rank }) => rank,
    },
    {
      key: 'item',
      label: 'Item',
      value: ({ title, itemId }) => title || itemId,
      cell: (item) => (
        <NamedItem
          item={item}
          described={described[item.itemId]}
          isChanged={changed.includes(item.itemId)}
        />
      ),
    },
    {
      key: 'sid',
      label: 'SID',
      value: ({ sid }) => sid.join('-'),
      cell: ({ sid }) => (
        <Button
          size="compact-xs"
          variant="default"
          title="Show its way in the tree"
          onClick={() => onChoose(sid)}
        >
          {sid.join('-')}
        </Button>
      ),
    },
    {
      key: 'probability',
      label: 'Probability',
      isNumber: true,
      value: ({ score }) => score,
      cell: ({ score }) => (
        <>
          <Text size="sm">{formatShare(Math.exp(score))}</Text>
          <Text size="xs" c="dimmed">
            score {score.toFixed(3)}
          </Text>
        </>
      ),
    },
    ...valueColumns(items),
  ];
}

/** The items in their order; choosing one shows its way through the tree. */
export function ItemTable({
  items,
  described,
  changed,
  sid,
  onChoose,
}: {
  items: Items;
  described: Readonly<Record<string, DescribedItem>>;
  /** Items that are others today. */
  changed: readonly string[];
  sid: readonly number[] | undefined;
  onChoose: (sid: readonly number[]) => void;
}) {
  return (
    <DataTable
      label="Items"
      rows={items}
      columns={columnsOf(items, described, changed, onChoose)}
      keyOf={({ rank }) => String(rank)}
      isChosen={(item) => sid?.join() === item.sid.join()}
      minWidth={340}
    />
  );
}
