import {
  type CatalogueView,
  type ChangingCatalogue,
  type ListedItem,
  NO_ITEM,
  NO_POLICY,
  type ReachRequest,
} from '@tessera/engine';

type Shared = Omit<ReachRequest['eligibility'], 'caps'>;

/** Items, or pages of a listing, between two of which requests run. */
const breather = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve);
  });

export type ItemState = Omit<ListedItem, 'priority'>;

/** A version of a catalogue, which stays as it is whatever is changed meanwhile. */
export interface PinnedItems {
  /** Number of its last change. */
  readonly sequence: number;
  /** In their order. One that is not live has `isPaused`; one that is gone has nothing else. */
  of(itemIds: readonly string[]): readonly ItemState[];
}

/** Items as versions of a catalogue have them. */
export class ItemStates {
  constructor(private readonly catalogue: ChangingCatalogue) {}

  /** The newest version, as it is when this is called. */
  pin(): PinnedItems {
    const view = this.catalogue.view();
    return { sequence: view.sequence, of: (itemIds) => this.statesIn(view, itemIds) };
  }

  private statesIn(view: CatalogueView, itemIds: readonly string[]): readonly ItemState[] {
    const ordinals = view.find(itemIds);
    const known = ordinals.filter((ordinal) => ordinal !== NO_ITEM);
    const items = view.items(known);
    const sids = view.sids(known);
    let next = 0;
    return itemIds.map((itemId, index) => {
      const nothing = { itemId, title: '', attributes: '{}', isPaused: true, sid: [] };
      if (ordinals[index] === NO_ITEM) return nothing;
      const [item, sid = []] = [items[next], sids[next]];
      next += 1;
      if (item === undefined) return nothing;
      const isLive = !item.isPaused && this.catalogue.isInFlight(item.attributes);
      return Object.assign(nothing, item, { sid, isPaused: !isLive });
    });
  }

  /** Live items that an eligibility admits; undefined: more than so many. */
  async admitted(
    eligibility: Shared,
    countMax: number,
  ): Promise<{ readonly sequence: number; readonly itemIds: readonly string[] } | undefined> {
    const { catalogue } = this;
    const request = { eligibility: { ...eligibility, caps: [] }, itemPolicy: NO_POLICY };
    const reach = await catalogue.reach(request);
    const itemIds: string[] = [];
    for (const page of catalogue.listItems(reach)) {
      const ids = page.map(({ itemId }) => itemId);
      const admitted = catalogue.firstObtainable(reach, ids, ids.length);
      for (const { itemId } of admitted) itemIds.push(itemId);
      if (itemIds.length > countMax) return undefined;
      await breather();
    }
    return { sequence: reach.sequence, itemIds };
  }
}
