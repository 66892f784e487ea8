import { readFileSync } from 'node:fs';
import { DAYPARTS } from './daypart.js';
import type { World } from './world.js';
import type {
  WorldAnswer,
  WorldBehaviour,
  WorldChange,
  WorldItem,
  WorldRecall,
  WorldService,
} from './world-service.js';

/** A service for tests: it shows the ads that users like most, by the truth or without drift. */
export class FakeWorld implements WorldService {
  world: World | undefined;
  behaviours: WorldBehaviour[] = [];
  readonly paused = new Set<string>();
  readonly changes: WorldChange[] = [];
  readonly catalogue: Map<string, WorldItem>;

  constructor(private readonly follows = false) {
    const lines = readFileSync('models/demo/catalogue.jsonl', 'utf8').trim().split('\n');
    this.catalogue = new Map(
      lines.map((line) => {
        const { item_id: itemId, sid, title, attributes } = JSON.parse(line);
        return [itemId, { itemId, sid, title, attributes, paused: false }];
      }),
    );
  }

  async items(): Promise<readonly WorldItem[]> {
    return [...this.catalogue.values()];
  }

  async recall({ userId, daypart, resultCount, explores }: WorldRecall): Promise<WorldAnswer> {
    const { truth, advertisers } = this.world as World;
    const user = Number(userId.split('-')[2]);
    const part = DAYPARTS.indexOf(daypart as never);
    const scored = [...this.catalogue.keys()]
      .filter((item) => !this.paused.has(item))
      .flatMap((item) => {
        const ad = truth.ads.get(item);
        if (ad === undefined) return [];
        const chance = truth.attraction(user, ad, part);
        const score = this.follows ? chance : -Math.log(1 - chance) / truth.appeal(ad);
        return [{ item, score }];
      })
      .sort((left, right) => right.score - left.score);
    const best = scored.slice(0, resultCount).map(({ item }) => item);
    const fresh = scored.find(({ item }) => advertisers.isFresh(item) && !best.includes(item));
    if (explores && fresh !== undefined) best[resultCount - 1] = fresh.item;
    return { itemIds: best, version: '' };
  }

  async append(behaviours: readonly WorldBehaviour[]): Promise<void> {
    this.behaviours.push(...behaviours);
  }

  async apply(changes: readonly WorldChange[]): Promise<void> {
    for (const change of changes) {
      const { op, itemId } = change;
      if (op === 'pause') this.paused.add(itemId);
      if (op === 'resume') this.paused.delete(itemId);
      if (op === 'remove') this.catalogue.delete(itemId);
      if (op === 'upsert') {
        const { sid, title, attributes } = change;
        this.catalogue.set(itemId, { itemId, sid, title, attributes, paused: false });
      }
    }
    this.changes.push(...changes);
  }

  async learnedUntilMs(): Promise<number | undefined> {
    return undefined;
  }
}
