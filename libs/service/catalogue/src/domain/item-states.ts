import {
  type ChangingCatalogue,
  EVERY_ITEM,
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

/** Items as the newest version of a catalogue has them. */
export class ItemStates {
  constructor(private readonly catalogue: ChangingCatalogue) {}

  /** In their order. One that is not live has `isPaused`; one that is gone has nothing else. */
  async of(itemIds: readonly string[]): Promise<readonly ListedItem[]> {
    const { catalogue } = this;
    const reach = await catalogue.reach(EVERY_ITEM);
    const live = catalogue.firstObtainable(reach, itemIds, itemIds.length);
    const byId = new Map(live.map((item) => [item.itemId, item]));
    const view = catalogue.view();
    const ordinals = view.find(itemIds);
    return itemIds.map((itemId, index) => {
      const found = byId.get(itemId);
      if (found !== undefined) return found;
      const nothing = { itemId, title: '', attributes: '{}', priority: 0, isPaused: true, sid: [] };
      const ordinal = ordinals[index] ?? NO_ITEM;
      if (ordinal === NO_ITEM) return nothing;
      const [item] = view.items(Uint32Array.of(ordinal));
      const [sid = []] = view.sids(Uint32Array.of(ordinal));
      return Object.assign(nothing, { title: item?.title, attributes: item?.attributes, sid });
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
