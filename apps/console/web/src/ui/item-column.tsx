import { Anchor } from '@mantine/core';
import { Link } from 'react-router';
import type { Column } from './data-table.js';

interface Named {
  readonly itemId: string;
  readonly title: string;
}

/** An item by its title, or by its ID where it has none; leads to its page. */
export function ItemLink({ itemId, title }: Named) {
  return (
    <Anchor component={Link} size="sm" to={`/items/${encodeURIComponent(itemId)}`}>
      {title || itemId}
    </Anchor>
  );
}

/** The column of a table whose rows are items. */
export const ITEM_COLUMN: Column<Named> = {
  key: 'item',
  label: 'Item',
  value: ({ title, itemId }) => title || itemId,
  cell: ({ title, itemId }) => <ItemLink itemId={itemId} title={title} />,
};
