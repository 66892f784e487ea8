import type { EdgeAdmission } from '@tessera/admission';
import { TesseraError } from '@tessera/errors';
import type { DrainStep } from '@tessera/lifecycle';
import type { RecallFacts, RecallOperations } from '@tessera/recall';
import type { HeldCounts } from '@tessera/telemetry';

export interface Holders {
  readonly facts: Pick<RecallFacts, 'heldWhileIdle'>;
  readonly operations: Pick<RecallOperations, 'adapters'>;
  readonly admissions: Readonly<Record<string, Pick<EdgeAdmission, 'inFlight'>>>;
}

/** Things that requests took and did not give back, though none is under way. */
export function heldWhileIdle({ facts, operations, admissions }: Holders): HeldCounts {
  const { underway, ...held } = facts.heldWhileIdle();
  const { pushBytes = 0 } = operations.adapters?.heldWhileIdle() ?? {};
  const isIdle = underway === 0;
  return { ...held, pushBytes, admission: isIdle ? placesOf(admissions) : 0 };
}

const placesOf = (admissions: Holders['admissions']) =>
  Object.values(admissions).reduce((sum, { inFlight }) => sum + inFlight, 0);

/** Once every call has ended: fails where something is still held. */
export function nothingHeld(holders: Holders, budgetMs: number): DrainStep {
  return {
    name: 'nothing held',
    budgetMs,
    act: () => {
      const held = Object.entries(heldWhileIdle(holders)).filter(([, count]) => count !== 0);
      if (held.length === 0) return;
      const got = held.map(([kind, count]) => `${kind} ${count}`).join(', ');
      throw new TesseraError('INTERNAL', `held: expected nothing after the last call, got ${got}`);
    },
  };
}
