/** Model of the service's content and answers, restated over plain maps. */

export interface Ad {
  readonly itemId: string;
  readonly sid: readonly number[];
  readonly brand: string;
  readonly bid: number;
  readonly places: readonly string[];
  readonly isPaused: boolean;
}

export interface SeenEvent {
  readonly userId: string;
  readonly eventId: string;
  readonly itemId: string;
  readonly timeMs: number;
}

/** Conditions as the wire has them. */
export type Condition =
  | { readonly in: { readonly attribute: 'brand'; readonly values: readonly string[] } }
  | { readonly contains: { readonly attribute: 'places'; readonly values: readonly string[] } }
  | { readonly range: { readonly attribute: 'bid'; readonly min: number; readonly max: number } }
  | { readonly not: Condition }
  | { readonly all: { readonly predicates: readonly Condition[] } }
  | { readonly any: { readonly predicates: readonly Condition[] } };

/** So many behaviours later than a moment, with the ad or with ads of its brand, are enough. */
export interface DayCap {
  readonly attribute: '' | 'brand';
  readonly maxBehaviours: number;
  readonly sinceMs: number;
}

function holds(condition: Condition, ad: Ad): boolean {
  if ('in' in condition) return condition.in.values.includes(ad.brand);
  if ('contains' in condition) {
    return condition.contains.values.some((place) => ad.places.includes(place));
  }
  if ('range' in condition) {
    return ad.bid >= condition.range.min && ad.bid <= condition.range.max;
  }
  if ('not' in condition) return !holds(condition.not, ad);
  if ('all' in condition) return condition.all.predicates.every((one) => holds(one, ad));
  return condition.any.predicates.some((one) => holds(one, ad));
}

export class DayModel {
  readonly ads = new Map<string, Ad>();
  /** Histories, oldest first. */
  readonly users = new Map<string, SeenEvent[]>();
  readonly erased = new Set<string>();
  private readonly registries = new Map<string, string[]>();

  /** Digests of the adapters that were put into service on a base model, the serving one last. */
  registry(base: string): string[] {
    const found = this.registries.get(base) ?? [];
    this.registries.set(base, found);
    return found;
  }

  append(event: SeenEvent): void {
    const history = this.users.get(event.userId) ?? [];
    if (!history.some(({ eventId }) => eventId === event.eventId)) history.push(event);
    this.users.set(event.userId, history);
  }

  erase(userId: string): void {
    this.users.delete(userId);
    this.erased.add(userId);
  }

  /** Changes every ad that the condition holds for, paused ones too; how many. */
  changeMatching(condition: Condition, change: (ad: Ad) => Ad): number {
    const matching = [...this.ads.values()].filter((ad) => holds(condition, ad));
    for (const ad of matching) this.ads.set(ad.itemId, change(ad));
    return matching.length;
  }

  /** IDs of the ads that a recall may answer, in the order of their text. */
  eligible(condition: Condition | undefined, userId: string, caps: readonly DayCap[]): string[] {
    const found = [...this.ads.values()].filter(
      (ad) => !ad.isPaused && (condition === undefined || holds(condition, ad)),
    );
    const uncapped = found.filter((ad) => !caps.some((cap) => this.isFull(cap, ad, userId)));
    return uncapped.map(({ itemId }) => itemId).sort();
  }

  /** Ads that ended count towards no brand. */
  private isFull({ attribute, maxBehaviours, sinceMs }: DayCap, ad: Ad, userId: string): boolean {
    const counting = (this.users.get(userId) ?? []).filter(
      ({ itemId, timeMs }) =>
        timeMs > sinceMs &&
        (attribute === '' ? itemId === ad.itemId : this.ads.get(itemId)?.brand === ad.brand),
    );
    return counting.length >= maxBehaviours;
  }

  /** Input of an answer's scores: the history's items as the prompt shows them. */
  shown(userId: string): string {
    const codes = (this.users.get(userId) ?? []).flatMap(({ itemId }) => {
      const ad = this.ads.get(itemId);
      return ad === undefined ? [] : [ad.sid.join('.')];
    });
    return codes.join(' ');
  }
}
