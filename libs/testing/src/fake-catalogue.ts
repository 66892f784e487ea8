import {
  type Catalogue,
  type CatalogueItem,
  type CatalogueSummary,
  NO_ITEM,
} from '@tessera/engine';
import { TesseraError } from '@tessera/errors';

export interface FakeItem {
  readonly itemId: string;
  readonly sid: readonly number[];
  readonly title?: string;
  readonly attributes?: string;
}

/** A catalogue in memory; the ordinal of an item is its place in the list. */
export class FakeCatalogue implements Catalogue {
  readonly summary: CatalogueSummary;
  closed = false;
  private readonly ordinals: ReadonlyMap<string, number>;

  constructor(readonly list: readonly FakeItem[]) {
    this.ordinals = new Map(list.map((item, ordinal) => [item.itemId, ordinal]));
    const depth = Math.max(0, ...list.map((item) => item.sid.length));
    const levelSizes = Array.from(
      { length: depth },
      (_, level) => 1 + Math.max(...list.map((item) => item.sid[level] ?? 0)),
    );
    this.summary = {
      digest: 'fake-catalogue',
      depth,
      levelSizes,
      levelPatterns: levelSizes.map(() => ''),
      pathCount: new Set(list.map((item) => item.sid.join(','))).size,
      itemCount: list.length,
      fileBytes: 0,
    };
  }

  find(itemIds: readonly string[]): Uint32Array {
    return Uint32Array.from(itemIds, (itemId) => this.ordinals.get(itemId) ?? NO_ITEM);
  }

  sids(ordinals: Uint32Array): number[][] {
    return Array.from(ordinals, (ordinal) => [...this.at(ordinal).sid]);
  }

  items(ordinals: Uint32Array): CatalogueItem[] {
    return Array.from(ordinals, (ordinal) => {
      const { itemId, title = '', attributes = '{}' } = this.at(ordinal);
      return { itemId, title, attributes };
    });
  }

  close(): void {
    this.closed = true;
  }

  private at(ordinal: number): FakeItem {
    const item = this.list[ordinal];
    if (item !== undefined) return item;
    throw new TesseraError('REQUEST_INVALID', `ordinal ${ordinal} is out of range`);
  }
}
