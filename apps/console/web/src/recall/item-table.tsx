import { Button, Text } from '@mantine/core';
import type { DescribedItem, RecordedRecall } from '../../../src/api-types.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { formatShare } from '../ui/format.js';
import { ItemLink } from '../ui/item-column.js';
import { Mark } from '../ui/mark.js';
import { scaleOf, ValueBar, type Worth } from './value-bar.js';

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
          title="Drawn by chance; the propensity is its probability beside the others drawn."
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

/** Column of values by their parts; none where no item has one. */
function worthColumn(
  items: Items,
  label: string,
  worthOf: (item: Item) => Worth | undefined,
): Column<Item>[] {
  const worths = items.map(worthOf);
  if (worths.every((worth) => worth === undefined)) return [];
  const scale = scaleOf(worths);
  const cell = (item: Item) => {
    const worth = worthOf(item);
    return worth && <ValueBar worth={worth} scale={scale} name={label.toLowerCase()} />;
  };
  return [{ key: label, label, value: (item) => worthOf(item)?.value, cell }];
}

/** Column of the places in the recall, of a recall that ranked. */
function recalledColumn(items: Items): Column<Item>[] {
  if (items.every(({ ranking }) => ranking === undefined)) return [];
  const recalled = ({ ranking }: Item) => ranking?.recallRank;
  return [{ key: 'recalled', label: 'Recalled', isNumber: true, value: recalled, cell: recalled }];
}

/** Columns of the heads, of a recall that ranked. */
function headColumns(items: Items): Column<Item>[] {
  const heads = new Set(items.flatMap(({ ranking }) => Object.keys(ranking?.heads ?? {})));
  return [...heads].map((name) => {
    const said = ({ ranking }: Item) => ranking?.heads[name];
    const cell = (item: Item) => said(item)?.toPrecision(3);
    return { key: `head ${name}`, label: name, isNumber: true, value: said, cell };
  });
}

const PROBABILITY: Column<Item> = {
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
};

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
    },
    ...recalledColumn(items),
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
    ...worthColumn(items, 'Ranked value', ({ ranking }) => ranking?.value),
    ...headColumns(items),
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
    PROBABILITY,
    ...worthColumn(items, 'Value', ({ value }) => value),
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
  const columns = columnsOf(items, described, changed, onChoose);
  return (
    <DataTable
      label="Items"
      rows={items}
      columns={columns}
      keyOf={({ rank }) => String(rank)}
      isChosen={(item) => sid?.join() === item.sid.join()}
      minWidth={Math.max(340, 100 * columns.length)}
    />
  );
}
