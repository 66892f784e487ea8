/** Callers that change items, erase users and ask for recalls for as long as a day lasts. */

import type { Random } from '../../bench/models/random.js';
import { pace } from '../soak/pace.js';
import type { Soak } from '../soak/soak.js';
import { type ClusterCallers, codeOf } from './cluster-callers.js';
import type { ClusterModel, ItemChange, ItemState, ModelUser } from './cluster-model.js';
import type { RealCluster } from './real-cluster.js';

const OWN_ITEMS = 12;
const SIDS = [
  [0, 0, 0],
  [0, 0, 1],
  [1, 0, 0],
] as const;
const REPEAT_EVERY_MS = 200;
const BETWEEN_CHANGES_MS = 15;
const BETWEEN_RECALLS_MS = 25;
/** Codes that a call may end with while processes come and go. */
const PASSING_CODES = [
  // While the log is an older copy: the change is not in it.
  'LOG_DIFFERENT',
  'NODE_UNAVAILABLE',
  'OPERATION_BUSY',
  'DEADLINE_EXCEEDED',
  'ENGINE_OVERLOADED',
  'ENGINE_UNAVAILABLE',
  'STORE_UNAVAILABLE',
  'CANCELLED',
  'status (1|4|14): .*',
];
const PASSING = new RegExp(`^(${PASSING_CODES.join('|')})$`);

export interface DayParts {
  readonly soak: Soak;
  readonly cluster: RealCluster;
  readonly model: ClusterModel;
  readonly callers: ClusterCallers;
  /** Any that may be asked, whether they run or not. */
  readonly endpoints: readonly string[];
}

interface DrawnChange {
  readonly wire: object;
  readonly does: ItemChange;
}

const kept =
  (change: (item: ItemState) => ItemState): ItemChange =>
  (item) =>
    item === undefined ? undefined : change(item);

/** One of the changes that an item can have as it is. */
function drawn(random: Random, itemId: string, item: ItemState | undefined): DrawnChange {
  if (item === undefined) {
    const title = `title ${random.below(1000)}`;
    const attributes = JSON.stringify({ count: 0 });
    const upsert = { itemId, sid: random.one(SIDS), title, attributes, priority: 0 };
    return { wire: { upsert }, does: () => ({ title, count: 0, priority: 0, isPaused: false }) };
  }
  const form = random.below(8);
  if (form === 0) return { wire: { removeItemId: itemId }, does: () => undefined };
  if (form === 1) {
    return { wire: { pauseItemId: itemId }, does: kept((it) => ({ ...it, isPaused: true })) };
  }
  if (form === 2) {
    return { wire: { resumeItemId: itemId }, does: kept((it) => ({ ...it, isPaused: false })) };
  }
  if (form === 3) {
    const priority = random.below(100);
    const setPriority = { itemId, priority };
    return { wire: { setPriority }, does: kept((it) => ({ ...it, priority })) };
  }
  const by = 1 + random.below(9);
  const patchAttributes = { itemId, delta: [{ attribute: 'count', delta: by }] };
  return { wire: { patchAttributes }, does: kept((it) => ({ ...it, count: it.count + by })) };
}

/** Changes items of its own, one after another, so that their order is known. */
export class Writer {
  private changes = 0;

  constructor(
    private readonly parts: DayParts,
    private readonly name: string,
  ) {}

  async write(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.change(isOver);
      await pace(BETWEEN_CHANGES_MS);
    }
  }

  private async change(isOver: () => boolean): Promise<void> {
    const { model, endpoints, callers, soak } = this.parts;
    const { random } = soak;
    const itemIds = Array.from({ length: OWN_ITEMS }, (_, n) => `${this.name} item ${n}`);
    const certain = itemIds.filter((itemId) => model.known(itemId).doubt === undefined);
    if (certain.length === 0) return;
    const chosen = new Set([random.one(certain), random.one(certain)]);
    const all = [...chosen].map((itemId) => ({
      itemId,
      ...drawn(random, itemId, model.known(itemId).state),
    }));
    const wires = all.map(({ wire }) => wire);
    this.changes += 1;
    const isKeyed = random.below(3) > 0;
    const key = isKeyed ? `${this.name} ${this.changes} ${random.bits()}` : '';
    for (;;) {
      try {
        await callers.apply(random.one(endpoints), wires, key);
        for (const { itemId, does } of all) model.acknowledged(itemId, does);
        soak.count('changes acknowledged');
        if (isKeyed && random.chance(4)) await this.repeat(wires, key);
        return;
      } catch (thrown) {
        const code = codeOf(thrown);
        if (!PASSING.test(code)) soak.fault(`change of ${this.name}: ${code}, ${thrown}`);
        soak.count('changes in doubt or repeated');
        if (isKeyed && !isOver()) {
          await pace(REPEAT_EVERY_MS);
          continue;
        }
        for (const { itemId, does } of all) model.doubted(itemId, does);
        return;
      }
    }
  }

  /** Counts once: its answer says so, unless none comes. */
  private async repeat(wires: readonly object[], key: string): Promise<void> {
    const { callers, endpoints, soak } = this.parts;
    try {
      const { alreadyApplied } = await callers.apply(soak.random.one(endpoints), wires, key);
      soak.count('keys repeated');
      if (!alreadyApplied) soak.fault(`key ${key}: expected it to be known, got it applied anew`);
    } catch (thrown) {
      if (!PASSING.test(codeOf(thrown))) soak.fault(`repeat of ${key}: ${codeOf(thrown)}`);
    }
  }
}

/** Recalls of users who come, and who are erased. */
export async function recallOn(parts: DayParts, isOver: () => boolean): Promise<void> {
  const { model, cluster, callers, soak } = parts;
  const { random } = soak;
  while (!isOver()) {
    await pace(BETWEEN_RECALLS_MS);
    if (model.users.length === 0) continue;
    const user = random.one(model.users);
    const wasErased = user.isErased;
    const at = random.one(cluster.gateways);
    try {
      const answer = await callers.recall(at, user.userId);
      soak.count('recalls');
      if (wasErased) {
        const { node } = answer.versions ?? {};
        soak.fault(`recall of ${user.userId}, erased before, was answered by ${node} over ${at}`);
      }
    } catch (thrown) {
      const code = codeOf(thrown);
      soak.count(`recalls ${code.slice(0, 24)}`);
      const isGone = code === 'USER_NOT_FOUND' && user.isGoing;
      if (!isGone && !PASSING.test(code)) soak.fault(`recall of ${user.userId}: ${code}`);
    }
  }
}

/** Asks until it is acknowledged, or `isOver`. */
export async function erase(
  { callers, soak }: DayParts,
  user: ModelUser,
  endpoints: readonly string[],
  isOver: () => boolean,
): Promise<void> {
  user.isGoing = true;
  for (;;) {
    try {
      await callers.erase(soak.random.one(endpoints), user.userId);
      user.isErased = true;
      soak.count('erasures');
      return;
    } catch (thrown) {
      const code = codeOf(thrown);
      if (!PASSING.test(code)) soak.fault(`erasure of ${user.userId}: ${code}`);
      soak.count('erasures repeated');
      if (isOver()) return;
      await pace(REPEAT_EVERY_MS);
    }
  }
}
