/**
 * Days of a service as they go: ads begin and end, users come and are erased, adapters are pushed,
 * bases change, compactions, restarts, kill -9. Each answer and each list is compared with a model.
 */

import type { Course, Kind, Soak } from '../soak/soak.js';
import { type Ad, type Condition, DayModel, type SeenEvent } from './day-model.js';
import { type CampaignEdit, type DayEvent, DayPlan, type DayRecall } from './day-plan.js';
import { attributesOf, BASES, ServedDays, upsertOf } from './served-days.js';

const FIRST_MS = 1_700_000_000_000;
const ADS_FIRST = 60;
/** Users whose histories are read again after a start. */
const USERS_READ_AGAIN = 6;

export const days: Kind = {
  usage: `
  A day of a service on a small random model: ads begin and end, users come and are erased,
  adapters are pushed, bases change, compactions, restarts and kill -9. Faults: an answer or a
  list is not as a model says.`,
  rounds: 1000,
  start: async (soak) => {
    const model = new DayModel();
    const plan = new DayPlan(soak.random, model, FIRST_MS);
    const ads = Array.from({ length: ADS_FIRST }, () => plan.ad());
    for (const ad of ads) model.ads.set(ad.itemId, ad);
    return new Days(soak, plan, model, await ServedDays.start(ads));
  },
};

class Days implements Course {
  /** Scores by what they depend on: the same prompt and weights give the same bits for ever. */
  private readonly scores = new Map<string, Map<string, number>>();

  constructor(
    private readonly soak: Soak,
    private readonly plan: DayPlan,
    private readonly model: DayModel,
    private readonly served: ServedDays,
  ) {}

  async round(): Promise<void> {
    for (const event of this.plan.day()) await this.live(event);
  }

  finish(): Promise<void> {
    return this.live({ kind: 'kill' });
  }

  close(): Promise<void> {
    return this.served.remove();
  }

  /** A call that fails is a fault of the service: nothing here is anything but ordinary. */
  private live(event: DayEvent): Promise<void> {
    return this.soak.attempt(event.kind, () => this.act(event));
  }

  private async act(event: DayEvent): Promise<void> {
    const { model, served } = this;
    switch (event.kind) {
      case 'begin ads':
        await served.apply(event.ads.map(upsertOf));
        for (const ad of event.ads) model.ads.set(ad.itemId, ad);
        break;
      case 'end ads':
        await served.apply(event.itemIds.map((removeItemId) => ({ removeItemId })));
        for (const itemId of event.itemIds) model.ads.delete(itemId);
        break;
      case 'pause':
      case 'resume':
        return this.pause(event.itemId, event.kind === 'pause');
      case 'change attributes': {
        const { itemId } = event.ad;
        const attributes = JSON.stringify(attributesOf(event.ad));
        await served.apply([{ setAttributes: { itemId, attributes } }]);
        model.ads.set(itemId, event.ad);
        break;
      }
      case 'campaign':
        return this.campaign(event);
      case 'behaviours':
        await served.append(event.events);
        for (const seen of event.events) model.append(seen);
        break;
      case 'erase':
        await served.erase(event.userId);
        model.erase(event.userId);
        break;
      case 'recall':
        return this.recall(event);
      default:
        return this.operate(event);
    }
  }

  private async campaign({
    condition,
    edit,
  }: Extract<DayEvent, { kind: 'campaign' }>): Promise<void> {
    const { model, served } = this;
    const change = campaignChange(condition, edit);
    const [matched] = await served.apply([change]);
    const expected = model.changeMatching(condition, (ad) => edited(ad, edit));
    expectSame(`ads of ${JSON.stringify(change)}`, matched, expected);
  }

  private async pause(itemId: string, isPaused: boolean): Promise<void> {
    await this.served.apply([isPaused ? { pauseItemId: itemId } : { resumeItemId: itemId }]);
    const ad = this.model.ads.get(itemId);
    if (ad !== undefined) this.model.ads.set(itemId, { ...ad, isPaused });
  }

  private async operate(event: DayEvent): Promise<void> {
    const { served } = this;
    const registry = this.model.registry(served.base);
    switch (event.kind) {
      case 'push adapter': {
        const digest = await served.push(event.seed);
        await served.activate(digest);
        registry.push(digest);
        return this.checkAdapters();
      }
      case 'roll adapter back':
        if (registry.length === 0) return;
        await served.rollBack();
        registry.pop();
        return this.checkAdapters();
      case 'compact':
        return served.compact();
      case 'kill':
        return this.kill();
      case 'restart':
        await served.end('SIGTERM');
        return this.startAgain();
      case 'change base':
        await served.end('SIGTERM');
        served.base = BASES.find((base) => base !== served.base) ?? served.base;
        return this.startAgain();
    }
  }

  /** With a behaviour under way, which may or may not have been written. */
  private async kill(): Promise<void> {
    const { model, served } = this;
    const [userId, events = []] = this.anyUser() ?? [];
    const last = events.at(-1);
    if (userId === undefined || last === undefined) {
      await served.end('SIGKILL');
      return this.startAgain();
    }
    const torn: SeenEvent = { ...last, eventId: `${last.eventId}, torn`, timeMs: last.timeMs + 1 };
    const sent = served.append([torn]).then(
      () => true,
      () => false,
    );
    for (let turns = this.soak.random.below(30); turns > 0; turns -= 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await served.end('SIGKILL');
    const isAcknowledged = await sent;
    await served.begin();
    const isThere = (await served.history(userId)).includes(torn.eventId);
    if (isAcknowledged && !isThere) throw new Error(`lost the acknowledged ${torn.eventId}`);
    if (isThere) model.append(torn);
    return this.checkAll();
  }

  private async startAgain(): Promise<void> {
    await this.served.begin();
    return this.checkAll();
  }

  private anyUser() {
    const known = [...this.model.users];
    return known[this.soak.random.below(known.length)];
  }

  private async recall({ userId, condition, caps }: DayRecall): Promise<void> {
    const { model, served } = this;
    const answer = await served.recall(userId, condition, caps);
    const found = answer.items.map(({ itemId }) => itemId).sort();
    expectSame(
      `items of ${userId} where ${JSON.stringify(condition)} under ${JSON.stringify(caps)}`,
      found,
      model.eligible(condition, userId, caps),
    );
    const adapter = model.registry(served.base).at(-1) ?? '';
    expectSame('the version that answered', answer.versions?.adapter ?? '', adapter);
    const key = [served.base, adapter, model.shown(userId)].join('|');
    const known = this.scores.get(key) ?? new Map<string, number>();
    this.scores.set(key, known);
    let before = Number.POSITIVE_INFINITY;
    for (const { itemId, sid, score } of answer.items) {
      const path = sid.join('.');
      const expected = known.get(path) ?? score;
      if (score !== expected)
        throw new Error(`${itemId}: expected the score ${expected}, got ${score}`);
      if (score > before)
        throw new Error(`${itemId}: expected a score of ${before} at most, got ${score}`);
      known.set(path, score);
      before = score;
    }
  }

  private async checkAll(): Promise<void> {
    const { model, served } = this;
    const listed = (await served.listed()).map(({ itemId, paused, sid }) =>
      [itemId, paused, ...sid].join(' '),
    );
    const expected = [...model.ads.values()].map(({ itemId, isPaused, sid }) =>
      [itemId, isPaused, ...sid].join(' '),
    );
    expectSame('ads', listed.sort(), expected.sort());
    for (let left = USERS_READ_AGAIN; left > 0; left -= 1) {
      const [userId, events = []] = this.anyUser() ?? [];
      if (userId === undefined) break;
      const ids = events.map(({ eventId }) => eventId);
      expectSame(`the history of ${userId}`, await served.history(userId), ids);
    }
    for (const userId of [...model.erased].slice(-USERS_READ_AGAIN)) {
      expectSame(`the history of ${userId}, erased`, await served.history(userId), []);
    }
    return this.checkAdapters();
  }

  private async checkAdapters(): Promise<void> {
    const versions = await this.served.versions();
    const active = versions.filter(({ state }) => state === 'STATE_ACTIVE');
    const expected = this.model.registry(this.served.base).slice(-1);
    expectSame(
      'active versions',
      active.map(({ digest }) => digest),
      expected,
    );
  }
}

function campaignChange(matching: Condition, edit: CampaignEdit): object {
  if (edit.form === 'raise') {
    const delta = [{ attribute: 'bid', delta: edit.bid }];
    const add = [{ attribute: 'places', texts: [edit.place] }];
    return { patchAttributes: { matching, delta, add } };
  }
  return edit.form === 'pause' ? { pauseMatching: matching } : { resumeMatching: matching };
}

function edited(ad: Ad, edit: CampaignEdit): Ad {
  if (edit.form !== 'raise') return { ...ad, isPaused: edit.form === 'pause' };
  const places = [...new Set([...ad.places, edit.place])];
  return { ...ad, bid: ad.bid + edit.bid, places };
}

/** @throws Error naming both where they differ */
function expectSame(what: string, got: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(got), JSON.stringify(expected)];
  if (is !== should) throw new Error(`${what}: expected ${should}, got ${is}`);
}
