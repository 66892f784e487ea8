import { TesseraError } from '@tessera/errors';
import { describe, expect, it } from 'vitest';
import { ChangeQueue } from './change-queue.js';
import { FakeWorld } from './fake-world.js';
import { WORLD_DEFAULTS, World, type WorldOptions } from './world.js';
import type { WorldChange } from './world-service.js';

const SEED = 7;
const SMALL: WorldOptions = Object.assign({}, WORLD_DEFAULTS, { seed: SEED, users: 20 });

async function opened(
  changes: Partial<WorldOptions> = {},
  service = new FakeWorld(),
): Promise<{ world: World; service: FakeWorld }> {
  const world = await World.open(service, Object.assign({}, SMALL, changes));
  service.world = world;
  return { world, service };
}

/** Answers in an order of its own. */
class Shuffled extends FakeWorld {
  private asked = 0;

  override async recall(question: Parameters<FakeWorld['recall']>[0]) {
    this.asked += 1;
    for (let turn = (this.asked * 7919) % 13; turn > 0; turn -= 1) await Promise.resolve();
    return super.recall(question);
  }
}

const away = () => Promise.reject(new TesseraError('ENGINE_UNAVAILABLE', 'away'));

describe(`a world of seed ${SEED}`, () => {
  it('is the same twice, in whatever order answers come', async () => {
    const [one, other] = [await opened(), await opened({}, new Shuffled())];
    const hours = await one.world.hours(30);
    expect(await other.world.hours(30)).toEqual(hours);
    expect(other.service.behaviours).toEqual(one.service.behaviours);
    expect(other.service.changes).toEqual(one.service.changes);
    expect(hours.some(({ clicks }) => clicks > 0)).toBe(true);
    const next = await opened({ seed: SEED + 1 });
    expect(await next.world.hours(30)).not.toEqual(hours);
  });

  it('has the same visits, drift and new ads whatever the service shows', async () => {
    const [frozen, following] = [await opened(), await opened({}, new FakeWorld(true))];
    const [slow, fast] = [await frozen.world.hours(30), await following.world.hours(30)];
    const shared = (hours: typeof slow) =>
      hours.map(({ visits, explored, arrivals }) => [
        visits,
        explored,
        arrivals.map(({ item, hour }) => [item, hour]),
      ]);
    expect(shared(fast)).toEqual(shared(slow));
    const appeals = ({ truth }: World) =>
      [...truth.ads.values()].map((ad) => [ad.item, truth.appeal(ad)]);
    expect(appeals(following.world)).toEqual(appeals(frozen.world));
    expect(following.world.truth.tastes()).toEqual(frozen.world.truth.tastes());
    const clicks = (hours: typeof slow) => hours.reduce((sum, { clicks }) => sum + clicks, 0);
    expect(clicks(fast)).toBeGreaterThan(1.15 * clicks(slow));
  });

  it('likes ads by the discounts that the service was told last', async () => {
    const { world, service } = await opened();
    const told = new Map([...service.catalogue].map(([id, { attributes }]) => [id, attributes]));
    await world.hours(6);
    for (const change of service.changes) {
      if (change.op !== 'set' && change.op !== 'upsert') continue;
      told.set(change.itemId, Object.assign({}, told.get(change.itemId), change.attributes));
    }
    const offers = [...world.truth.ads.values()].map(({ item, offer }) => [item, offer]);
    expect(offers).toEqual(
      offers.map(([item]) => {
        const { discount } = told.get(String(item)) as { readonly discount: number };
        return [item, (75 / (100 - discount)) ** 3.5];
      }),
    );
    expect(new Set(offers.map(([, offer]) => offer)).size).toBe(6);
  });

  it('expects what its users do, without their luck', async () => {
    const { world } = await opened({ users: 100 });
    const hours = await world.hours(24);
    const looks = hours.reduce((sum, { impressions }) => sum + impressions, 0);
    const expected = hours.reduce(
      (sum, { expectedClickRate: rate, impressions }) => sum + rate * impressions,
      0,
    );
    const clicks = hours.reduce((sum, { clicks }) => sum + clicks, 0);
    expect(Math.abs(clicks - expected)).toBeLessThan(4 * Math.sqrt(expected));
    expect(clicks / looks).toBeGreaterThan(0.05);
  });

  it('begins with what the demo was trained on, and drifts from it', async () => {
    const { world } = await opened();
    const spread = () => {
      const logs = [...world.truth.ads.values()].map((ad) => Math.log(world.truth.appeal(ad)));
      const mean = logs.reduce((sum, each) => sum + each, 0) / logs.length;
      return Math.sqrt(logs.reduce((sum, each) => sum + (each - mean) ** 2, 0) / logs.length);
    };
    await world.hours(1);
    // Of walks that begin at 0, and of seasons at any time of theirs.
    expect(spread()).toBeLessThan(0.6);
    await world.hours(30);
    expect(spread()).toBeGreaterThan(1);
  });

  it('pauses the ads of a spent budget, which is overspent by one click at most', async () => {
    const market = { newAds: 24, freshImpressions: 5, budget: 0.3 };
    const { world, service } = await opened({ market });
    const bids = [...service.catalogue.values()].map(({ attributes }) => attributes.bid as number);
    let spent = 0;
    for (let hour = 0; hour < 23; hour += 1) {
      const [figures] = await world.hours(1);
      spent = Math.max(spent, figures?.spentCampaigns ?? 0);
      // A bid moves by a factor of its own, which is seldom above 3.
      expect(world.advertisers.overspent).toBeLessThan(3 * Math.max(...bids));
    }
    expect(spent).toBeGreaterThan(3);
    await world.tick();
    expect(service.paused.size).toBeGreaterThan(10);
    // With the next day all but ads that ended are back.
    await world.hours(1);
    await world.tick();
    expect(world.advertisers.spentCount).toBeLessThan(spent);
  });

  it('has new ads in places of ended ones, fresh until enough looks or a day', async () => {
    const { world, service } = await opened();
    const hours = await world.hours(50);
    const begun = service.changes.filter(({ op }) => op === 'upsert').length;
    expect(begun).toBe(49);
    const aged = service.changes.filter(
      (change) => change.op === 'set' && 'fresh' in change.attributes,
    );
    expect(aged.length).toBeGreaterThan(20);
    expect(hours.flatMap(({ arrivals }) => arrivals).length).toBeGreaterThan(20);
    expect(world.truth.ads.size).toBe(699);
  });

  it('holds no more after days than after one', async () => {
    const { world, service } = await opened({ users: 3 });
    const held = () => {
      service.behaviours = [];
      service.changes.length = 0;
      return JSON.stringify(world, (_, value) =>
        value instanceof Map || value instanceof Set
          ? [...value].length
          : value === service
            ? undefined
            : value,
      ).length;
    };
    await world.hours(24);
    const after = held();
    await world.hours(96);
    expect(held()).toBeLessThan(1.2 * after);
  });

  it('loses and counts visits of a service that is away, and goes on', async () => {
    const { world, service } = await opened({ users: 50 });
    const { recall, append, apply } = service;
    Object.assign(service, { recall: away, append: away, apply: away });
    const [lost] = await world.hours(1);
    expect(lost).toMatchObject({ lost: lost?.visits, impressions: 0, versions: {} });
    expect(world.isAway).toBe(true);
    Object.assign(service, { recall, append, apply });
    const [back] = await world.hours(1);
    expect(back).toMatchObject({ lost: 0, dropped: 0 });
    expect(world.isAway).toBe(false);
    // Changes of advertisers have waited meanwhile.
    expect(service.changes.some(({ op }) => op === 'pause')).toBe(true);
  });

  it('counts changes that the service refuses, and goes on', async () => {
    const { world, service } = await opened();
    service.apply = () => Promise.reject(new TesseraError('CATALOGUE_INVALID', 'no'));
    const [hour] = await world.hours(1);
    expect(hour?.refused).toBeGreaterThan(0);
  });

  it('loses the change of an item that has gone, and none beside it', async () => {
    const service = new FakeWorld();
    const applied: WorldChange[] = [];
    service.apply = async (changes) => {
      if (changes.some(({ itemId }) => itemId === 'gone')) {
        throw new TesseraError('ITEM_NOT_FOUND', 'gone');
      }
      applied.push(...changes);
    };
    const queue = new ChangeQueue();
    const ids = Array.from({ length: 600 }, (_, at) => (at === 77 ? 'gone' : `${at}`));
    queue.add(ids.map((itemId) => ({ op: 'pause', itemId })));
    expect(await queue.applyTo(service)).toEqual({ refused: 1, dropped: 0 });
    expect(applied.map(({ itemId }) => itemId)).toEqual(ids.filter((id) => id !== 'gone'));
  });

  it.each([0.1, 0.5])('has a bot that makes a share of %s of all behaviours', async (share) => {
    const { world, service } = await opened({ bot: { item: '5', share } });
    const hours = await world.hours(24);
    const bots = service.behaviours.filter(({ userId }) => userId.endsWith('bot'));
    expect(bots.every(({ itemId, action }) => itemId === '5' && action === 'click')).toBe(true);
    expect(bots.length / service.behaviours.length).toBeCloseTo(share, 1);
    expect(hours.reduce((sum, { botBehaviours }) => sum + botBehaviours, 0)).toBe(bots.length);
  });

  it('undoes what an earlier world left', async () => {
    const service = new FakeWorld();
    const left = { sid: [0, 0, 0], title: '', attributes: {} };
    service.catalogue.set('w-3-ad-0', Object.assign({ itemId: 'w-3-ad-0', paused: false }, left));
    service.catalogue.set('x', Object.assign({ itemId: 'x', paused: true }, left));
    const { world } = await opened({}, service);
    await world.tick();
    expect(service.changes).toContainEqual({ op: 'remove', itemId: 'w-3-ad-0' });
    expect(service.changes).toContainEqual({ op: 'resume', itemId: 'x' });
    expect([world.truth.ads.has('w-3-ad-0'), world.truth.ads.has('x')]).toEqual([false, true]);
  });
});
