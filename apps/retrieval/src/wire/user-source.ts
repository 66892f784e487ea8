/** Fields of whom a prompt is made, which several requests have. */

import { enumWords, type WireHistory } from '@tessera/contracts';
import { invalid, text, texts } from '@tessera/grpc';
import type { UserSource } from '@tessera/recall';

interface WireUser {
  readonly requestId: string;
  readonly catalogue: string;
  readonly adapter: string;
  readonly userId?: string | undefined;
  readonly history?: WireHistory | undefined;
  readonly profile: Readonly<Record<string, string>>;
  readonly scene: Readonly<Record<string, string>>;
  readonly scoreNorm: number;
  readonly priority: number;
  readonly refuseUnknownItems: boolean;
  readonly requireHistory: boolean;
}

type Words = Readonly<Record<string, number>>;

/** Word of a field whose 0 means that the caller did not say. */
export function wordOf<Table extends Words>(
  [field, type]: readonly [field: string, type: string],
  words: Table,
  number: number,
): keyof Table | undefined {
  if (number === 0) return undefined;
  for (const word in words) if (words[word] === number) return word;
  throw invalid(field, `a value of ${type}`, number);
}

/** Undefined: the caller named none. @throws TesseraError REQUEST_INVALID */
export function priorityOf(priority: number) {
  return wordOf(['priority', 'Priority'], enumWords['tessera.recall.v1.Priority'], priority);
}

/** Checks that protobuf's decoder found UTF-8, which it does not check itself. */
export function checkUserTexts(message: WireUser): void {
  text('requestId', message.requestId);
  text('catalogue', message.catalogue);
  text('adapter', message.adapter);
  if (message.userId !== undefined) text('userId', message.userId);
  for (const [index, id] of message.history?.itemIds.entries() ?? []) text(`history[${index}]`, id);
  texts('profile', message.profile);
  texts('scene', message.scene);
}

export function userSource(message: WireUser): UserSource {
  const { requestId, catalogue, adapter, userId, history, profile, scene } = message;
  const norms = enumWords['tessera.recall.v1.ScoreNorm'];
  const scoreNorm = wordOf(['scoreNorm', 'ScoreNorm'], norms, message.scoreNorm);
  const priority = priorityOf(message.priority);
  return {
    requestId,
    ...(catalogue !== '' && { catalogue }),
    ...(adapter !== '' && { adapter }),
    ...(userId !== undefined && { userId }),
    // The decoder gives null for a message that is not there.
    ...(history && { history: history.itemIds }),
    profile,
    scene,
    ...(scoreNorm && { scoreNorm }),
    ...(priority && { priority }),
    skipUnknownItems: !message.refuseUnknownItems,
    ...(message.requireHistory && { requiresHistory: true }),
  };
}
