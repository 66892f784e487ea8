import { TesseraClient } from '@tessera/client';
import { isErrorCode, TesseraError } from '@tessera/errors';
import type { Answered, TopicClient } from '../e2e/topic-client.js';
import type { Soak } from '../soak/soak.js';
import type { BehaviourModel, SentBehaviour } from './behaviour-model.js';
import { itemTexts, type OfflineRecall } from './offline-recall.js';
import type { Asked, Erasure, Traffic } from './traffic.js';
import type { Crash, Store, World } from './world.js';

const CALL_MS = 20_000;
const HISTORY_LIMIT = 1000;
const RESULT_COUNT = 5;
/** Actions that the demo's prompt shows; '' is that of a behaviour without one. */
const SHOWN = ['click', ''];
/** Codes that a request may be refused with although it is sound. */
const BUSY: Readonly<Record<Store, ReadonlySet<string>>> = {
  embedded: new Set(['ENGINE_OVERLOADED']),
  redis: new Set(['ENGINE_OVERLOADED', 'STORE_UNAVAILABLE']),
};

export interface Evidence {
  readonly soak: Soak;
  readonly world: World;
  readonly traffic: Traffic;
  readonly topics: TopicClient;
  readonly model: BehaviourModel;
  readonly offline: OfflineRecall;
}

/** Notes what was sent and had another outcome than it had to have. */
export async function judge(evidence: Evidence): Promise<void> {
  const { soak, world, traffic, topics, model } = evidence;
  const faults: string[] = [];
  for (const asked of traffic.asked) {
    const answers = topics.answers.get(asked.id) ?? [];
    soak.count('answeredAgain', Math.max(0, answers.length - 1));
    soak.count('refused', answers.some(({ refusal }) => refusal !== undefined) ? 1 : 0);
    faults.push(...numberFaults(asked, answers, world.crashes));
    for (const answer of answers) faults.push(...(await answerFaults(asked, answer, evidence)));
  }
  for (const key of traffic.poison) {
    const reasons = topics.dead.filter((one) => one.key === key).map(({ reason }) => reason);
    if (!reasons.some((reason) => reason.startsWith('value: expected'))) {
      faults.push(`${key}: expected a dead letter, got ${JSON.stringify(reasons)}`);
    }
  }
  faults.push(...(await storeFaults(evidence)));
  for (const fault of faults) soak.fault(fault);
  soak.count('requests', traffic.asked.length);
  soak.count('users', model.userIds.length);
  soak.count('poison', traffic.poison.length);
}

function numberFaults(
  { id, timeMs }: Asked,
  answers: readonly Answered[],
  crashes: readonly Crash[],
): string[] {
  const last = answers.at(-1);
  if (last === undefined) return [`${id}: expected an answer, got none`];
  if (answers.length === 1) return [];
  const crashed = crashes.some((crash) => crash.startMs <= last.timeMs && crash.endMs >= timeMs);
  return crashed ? [] : [`${id}: ${answers.length} answers although nothing crashed`];
}

/** Ends of a request that an erasure of its user overtakes: under way, or before it has begun. */
const ERASED = new Set<string | undefined>(['CANCELLED', 'STORE_UNAVAILABLE']);

/** An erasure is a barrier: a request of the user beside it ends without an answer. */
function isErasedMeanwhile(
  { expected, timeMs }: Asked,
  answer: Answered,
  erasures: readonly Erasure[],
): boolean {
  if (expected.kind !== 'moving' || !ERASED.has(answer.refusal?.code)) return false;
  return erasures.some(
    ({ userId, startMs, endMs }) =>
      userId === expected.userId && startMs <= answer.timeMs && endMs >= timeMs,
  );
}

async function answerFaults(
  asked: Asked,
  answer: Answered,
  { world, offline, traffic }: Evidence,
): Promise<string[]> {
  const { id, expected } = asked;
  const { response, refusal } = answer;
  if (isErasedMeanwhile(asked, answer, traffic.erasures)) return [];
  if (refusal !== undefined) {
    const { code, message } = refusal;
    if (!isErrorCode(code)) return [`${id}: '${code}' is no code`];
    if (BUSY[world.store].has(code)) return [];
    if (expected.kind === 'refused' && code === expected.code) return [];
    if (expected.kind === 'moving' && code === 'USER_NOT_FOUND') return [];
    return [`${id}: expected ${expected.kind}, got ${code}: ${message}`];
  }
  if (expected.kind === 'refused') return [`${id}: expected ${expected.code}, got a response`];
  if (response === undefined) return [`${id}: neither response nor refusal`];
  if (expected.kind === 'moving') return [];
  const wanted =
    expected.kind === 'history'
      ? await offline.ofHistory(expected.itemIds)
      : await offline.ofSettled(expected.userId);
  return differences(id, itemTexts(response), wanted);
}

/** Every user's history and recall against those of the model. */
async function storeFaults({ model, offline, world }: Evidence): Promise<string[]> {
  const { service } = world;
  if (service === undefined) throw new Error('the service is not there');
  const client = new TesseraClient(service.grpcAddress);
  const faults: string[] = [];
  for (const userId of model.userIds) {
    const kept = model.kept(userId, Date.now());
    const stored = await storedOf(client, userId);
    const here = differences(`history of ${userId}`, stored.map(eventText), kept.map(eventText));
    faults.push(...here);
    const isGone = ({ itemId }: SentBehaviour) => itemId.startsWith('gone');
    const shown = kept.filter(({ action }) => SHOWN.includes(action));
    if (here.length > 0 || shown.every(isGone)) continue;
    const response = await client.recall({ userId, resultCount: RESULT_COUNT }, CALL_MS);
    const wanted = await offline.ofHistory(shown.map(({ itemId }) => itemId));
    faults.push(...differences(`recall for ${userId}`, itemTexts(response), wanted));
    const gone = kept.filter(isGone).length;
    if (response.skippedItems !== gone) {
      faults.push(`${userId}: expected ${gone} skipped, got ${response.skippedItems}`);
    }
  }
  client.close();
  return faults;
}

async function storedOf(client: TesseraClient, userId: string): Promise<readonly SentBehaviour[]> {
  try {
    return (await client.history(userId, HISTORY_LIMIT, CALL_MS)).behaviours;
  } catch (thrown) {
    if (TesseraError.from(thrown).code === 'USER_NOT_FOUND') return [];
    throw thrown;
  }
}

const eventText = ({ eventId, itemId, action, timeMs }: SentBehaviour) =>
  JSON.stringify([eventId, itemId, action, timeMs]);

function differences(what: string, got: readonly string[], wanted: readonly string[]): string[] {
  const same = got.length === wanted.length && got.every((text, i) => text === wanted[i]);
  return same ? [] : [`${what}: expected ${wanted.join(' | ')}, got ${got.join(' | ')}`];
}
