export interface CatalogueItem {
  readonly itemId: string;
  readonly title: string;
  /** JSON object text as imported; '{}' when none. */
  readonly attributes: string;
}

/** One version of a catalogue; what it says of an item never changes. */
export interface CatalogueView {
  /** Ordinal per item ID, NO_ITEM where absent: for this view alone. */
  find(itemIds: readonly string[]): Uint32Array;
  /** Per name of an attribute 1 where an item has or had it, else 0. */
  knows(attributes: readonly string[]): Uint32Array;
  /** Per text of an attribute 0 where items have the attribute and none has or had it, else 1. */
  knowsTexts(attribute: string, texts: readonly string[]): Uint32Array;
  /** SID codes per ordinal. Throws REQUEST_INVALID for an ordinal out of range. */
  sids(ordinals: Uint32Array): number[][];
  items(ordinals: Uint32Array): ViewedItem[];
  /** Number of its last change. */
  readonly sequence: number;
}

export interface ViewedItem extends CatalogueItem {
  /** Known, but not recalled. */
  readonly isPaused: boolean;
}
