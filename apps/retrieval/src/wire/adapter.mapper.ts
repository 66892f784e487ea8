/** Wire <-> domain of AdapterService. */

import type {
  Activated,
  Activation,
  ComparisonSummary,
  ListedVersion,
  PushPart,
} from '@tessera/adapter';
import {
  enumWords,
  type WireActivateRequest,
  type WireActivateResponse,
  type WireGetResponse,
  type WirePushRequest,
  type WireVersion,
} from '@tessera/contracts';
import { invalid, text } from '@tessera/grpc';

const STATES = enumWords['tessera.adapter.v1.State'];

export function toWireVersion(version: ListedVersion): WireVersion {
  const { name, digest, state, reason, baseModel, files, remark, facts, share } = version;
  return {
    name,
    digest,
    state: STATES[state],
    reason,
    baseModel,
    remark,
    share,
    fileBytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    receivedMs: version.receivedMs,
    changedMs: version.changedMs,
    pinned: version.isPinned,
    loaded: version.isLoaded,
    arenaBytes: version.arenaBytes,
    predecessor: version.isPredecessor,
    rankMax: facts?.rankMax ?? 0,
    targetCount: facts?.targetCount ?? 0,
    replacedRows: facts?.replacedRows ?? 0,
    largestNorm: facts?.largestNorm ?? 0,
    holder: version.holder,
    leaseUntilMs: version.leaseUntilMs,
    learnedUntilMs: version.learnedUntilMs,
  };
}

export function toWireComparison(
  comparison: ComparisonSummary | undefined,
): WireGetResponse['comparison'] {
  if (comparison === undefined) return undefined;
  const { canary, active, ...rest } = comparison;
  return { canary: { ...canary }, active: { ...active }, ...rest };
}

export function parseActivation(message: WireActivateRequest): Activation {
  const { share, force, cold, holder } = message;
  return { share: share ?? 1, isCompared: !force, isWarmed: !cold, holder: text('holder', holder) };
}

export function toWireActivated(
  { warmedUsers, goldenOverlap }: Activated,
  version: ListedVersion,
): WireActivateResponse {
  return { version: toWireVersion(version), warmedUsers, goldenOverlap };
}

export function parsePushPart(message: WirePushRequest): PushPart {
  const { header, chunk, end } = message;
  if (header) {
    const { name, baseModel, files, remark, holder, leaseSeconds, learnedUntilMs } = header;
    return {
      header: {
        name: text('name', name),
        baseModel: text('baseModel', baseModel),
        files: files.map((file) => ({ ...file })),
        remark: text('remark', remark),
        holder: text('holder', holder),
        leaseSeconds,
        learnedUntilMs,
      },
    };
  }
  if (chunk) return { data: chunk.data };
  if (end) return { isEnd: true };
  throw invalid('part', 'a header, a chunk or the end', 'none');
}
