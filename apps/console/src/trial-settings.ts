import type { RecallContext, RecallRequest, RecallServing } from '@tessera/recall';
import { type Fields, integerOf } from './fields.js';

/** The field that a recall over HTTP has not: the number of the last change that is to count. */
const SEQUENCE_FIELD = 'catalogueSequence';

/** A body of a recall with a version of the catalogue; left out: the newest. */
export interface TrialSettings {
  readonly body: Fields;
  readonly sequence: number | undefined;
}

/** @throws TesseraError REQUEST_INVALID with the field */
export function trialSettings(fields: Fields): TrialSettings {
  const { [SEQUENCE_FIELD]: given, ...body } = fields;
  if (given === undefined) return { body, sequence: undefined };
  const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
  return { body, sequence: integerOf(fields, SEQUENCE_FIELD, bounds) };
}

/** The context in which requests that differ in their user alone reach the version. */
export async function versionedContext(
  serving: RecallServing,
  request: RecallRequest,
  sequence: number | undefined,
  context: RecallContext,
): Promise<RecallContext> {
  if (sequence === undefined) return context;
  return { ...context, pinned: await serving.pin(request, sequence) };
}
