/** Fields that requests of both services have. What protobuf cannot check is checked here. */

import { type WireHistory, WirePriority, WireScoreNorm } from '@tessera/contracts';
import type { Priority, ScoreNorm } from '@tessera/engine';
import { invalid, text, texts } from '@tessera/grpc';
import type { UserSource } from '@tessera/recall';

interface WireSource {
  readonly userId?: string | undefined;
  readonly history?: WireHistory | undefined;
}

interface WireUser extends WireSource {
  readonly requestId: string;
  readonly catalogue: string;
  readonly adapter: string;
  readonly profile: Readonly<Record<string, string>>;
  readonly scene: Readonly<Record<string, string>>;
  readonly scoreNorm: WireScoreNorm;
  readonly priority: WirePriority;
  readonly skipUnknownItems: boolean;
}

const SCORE_NORMS: ReadonlyMap<number, ScoreNorm> = new Map([
  [WireScoreNorm.SCORE_NORM_FULL, 'full'],
  [WireScoreNorm.SCORE_NORM_LEVEL, 'level'],
  [WireScoreNorm.SCORE_NORM_ALLOWED, 'allowed'],
]);

const PRIORITIES: ReadonlyMap<number, Priority> = new Map([
  [WirePriority.PRIORITY_HIGH, 'high'],
  [WirePriority.PRIORITY_NORMAL, 'normal'],
  [WirePriority.PRIORITY_LOW, 'low'],
]);

function scoreNorm(value: number): { scoreNorm?: ScoreNorm } {
  if (value === WireScoreNorm.SCORE_NORM_UNSPECIFIED) return {};
  const norm = SCORE_NORMS.get(value);
  if (norm === undefined) throw invalid('scoreNorm', 'a value of ScoreNorm', value);
  return { scoreNorm: norm };
}

function priority(value: number): { priority?: Priority } {
  if (value === WirePriority.PRIORITY_UNSPECIFIED) return {};
  const known = PRIORITIES.get(value);
  if (known === undefined) throw invalid('priority', 'a value of Priority', value);
  return { priority: known };
}

function source(message: WireSource): Pick<UserSource, 'userId' | 'history'> {
  if (message.userId !== undefined) return { userId: text('userId', message.userId) };
  if (message.history === undefined) return {};
  return { history: message.history.itemIds.map((id, index) => text(`history[${index}]`, id)) };
}

export function userSource(message: WireUser): UserSource {
  return {
    requestId: text('requestId', message.requestId),
    ...(message.catalogue === '' ? {} : { catalogue: text('catalogue', message.catalogue) }),
    ...(message.adapter === '' ? {} : { adapter: text('adapter', message.adapter) }),
    ...source(message),
    profile: texts('profile', message.profile),
    scene: texts('scene', message.scene),
    ...scoreNorm(message.scoreNorm),
    ...priority(message.priority),
    skipUnknownItems: message.skipUnknownItems,
  };
}
