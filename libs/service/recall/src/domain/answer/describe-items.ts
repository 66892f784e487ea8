import { type Catalogue, type CatalogueItem, NO_ITEM } from '@tessera/engine';

/** Items as the newest version has them; undefined where it has none of the ID. */
export function describeItems(
  catalogue: Catalogue,
  itemIds: readonly string[],
): readonly (DescribedItem | undefined)[] {
  const view = catalogue.view();
  const ordinals = view.find(itemIds);
  const known = ordinals.filter((ordinal) => ordinal !== NO_ITEM);
  const sids = view.sids(known);
  const items = view
    .items(known)
    .map(({ itemId, title, attributes }, i) => ({ itemId, title, attributes, sid: sids[i] ?? [] }));
  return Array.from(ordinals, (ordinal) => (ordinal === NO_ITEM ? undefined : items.shift()));
}

/** An item, for people to read. */
export interface DescribedItem extends CatalogueItem {
  readonly sid: readonly number[];
}
