/** A recorded recall as a row of the table `recalls` (docs/operate/console.md), and back. */

import {
  eligibilityText,
  type RecallAnswer,
  type RecalledItem,
  type RecallRequest,
} from '@tessera/recall';
import { headOf, type Row } from './recall-summary.js';
import type { RecordableRecall } from './recordable.js';
import type { RecordedAnswer, RecordedRecall, RecordedRequest } from './recorded-recall.js';
import { treeBytes, treeRows } from './tree-rows.js';

/** Texts that only the user's key opens, as JSON in the column `sealed`. */
interface SealedDetail {
  readonly request: RecordedRequest;
  readonly message: string;
  readonly history: RecordedAnswer['history'];
  readonly profile: RecordedAnswer['profile'];
}

const snakeCased = (name: string) => name.replaceAll(/[A-Z]/g, (at) => `_${at.toLowerCase()}`);

/** Members that are no objects, by the names of columns: those that are none are ignored. */
function columnsOf(members: object): object {
  const plain = Object.entries(members).filter(([, value]) => typeof value !== 'object');
  return Object.fromEntries(plain.map(([name, value]) => [snakeCased(name), value]));
}

function answerRow({ items, sight, ...answer }: RecallAnswer) {
  const { requestId: _column, ...told } = answer;
  const { versions, kv, timings } = answer;
  return {
    ...columnsOf(answer),
    ...columnsOf(versions),
    ...columnsOf(timings),
    versions: JSON.stringify(versions),
    item_count: items.length,
    widths: answer.widthsUsed,
    kv_device_tokens: kv.tokensByTier.device ?? 0,
    kv_host_tokens: kv.tokensByTier.host ?? 0,
    kv_disk_tokens: kv.tokensByTier.disk ?? 0,
    kv_shared_tokens: kv.sharedTokens,
    kv_computed_tokens: kv.computedTokens,
    kv_tokens: kv.tokensByTier,
    answer: JSON.stringify(told),
    // Attributes are looked up where they are shown.
    answer_items: JSON.stringify(items.map(({ attributes: _own, ...item }) => item)),
    tree: Buffer.from(treeBytes(sight?.tree)).toString('base64'),
  };
}

/** Asked again, the same places are drawn: by the seed that the service drew for it. */
function withSeed<Request extends Pick<RecallRequest, 'explore'>>(
  request: Request,
  outcome: RecordableRecall['outcome'],
): Request {
  const { explore } = request;
  const drawn = 'answer' in outcome ? outcome.answer.exploration : undefined;
  if (explore === undefined || drawn === undefined) return request;
  return { ...request, explore: { ...explore, seed: drawn.seed } };
}

/** The row but for its user. */
export function recordedRow(recall: RecordableRecall): object {
  const { id, timeMs, source, reason, request, outcome } = recall;
  const head = { id, time: timeMs, source, reason, scene: request.scene };
  if ('answer' in outcome) return { ...head, code: 'OK', ...answerRow(outcome.answer) };
  return { ...head, code: outcome.code, request_id: request.requestId };
}

/** The user's ID, and the detail as JSON: in the order of the sealed columns. */
export function secretsOf({ request: asked, outcome }: RecordableRecall): [string, string] {
  const { wantsSight: _own, eligibility, ...rest } = asked;
  const seeded = withSeed(rest, outcome);
  const request = eligibility ? { ...seeded, eligibility: eligibilityText(eligibility) } : seeded;
  const isAnswered = 'answer' in outcome;
  const sight = isAnswered ? outcome.answer.sight : undefined;
  const detail: SealedDetail = {
    request,
    message: isAnswered ? '' : outcome.message,
    history: sight?.history ?? [],
    profile: sight?.profile ?? {},
  };
  return [asked.userId ?? '', JSON.stringify(detail)];
}

type StoredAnswer = Omit<RecordedAnswer, 'items' | 'history' | 'profile' | 'tree'>;

/** @param sealed text of the row, opened */
export function recordedFrom(row: Row, sealed: string): RecordedRecall {
  const { request, message, history, profile } = JSON.parse(sealed) as SealedDetail;
  const recorded = { ...headOf(row), request, message };
  if (row.answer === null) return recorded;
  const answer = JSON.parse(String(row.answer)) as StoredAnswer;
  const stored = JSON.parse(String(row.answer_items)) as Omit<RecalledItem, 'attributes'>[];
  const items = stored.map((item) => ({ ...item, attributes: '' }));
  const tree = treeRows(Buffer.from(String(row.tree ?? ''), 'base64'));
  return { ...recorded, answer: { ...answer, items, history, profile, tree } };
}
