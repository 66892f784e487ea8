import type { OpenPart } from './open-part.js';
import { placeOf } from './pair-work.js';

const ROUNDS_MAX = 200;
/** With more documents than this, none is so large beside the others that exchanging two helps. */
const EXCHANGED_DOCUMENTS_MAX = 128;
/** What is gained by a change is at least this share of the finish. */
const GAIN_SHARE = 1e-3;

/**
 * Moves documents away from the part that ends last, or exchanges one of them for another part's,
 * as long as the two then end sooner.
 */
export function improve(parts: readonly OpenPart[]): void {
  const count = parts.reduce((sum, { documents }) => sum + documents.length, 0);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const last = parts.reduce((a, b) => (b.finishUs > a.finishUs ? b : a));
    const goalUs = last.finishUs * (1 - GAIN_SHARE);
    if (move(last, parts, goalUs)) continue;
    if (count > EXCHANGED_DOCUMENTS_MAX || !exchange(last, parts, goalUs)) return;
  }
}

/** Moves the document by which the later of two parts ends soonest. False: none helps. */
function move(last: OpenPart, parts: readonly OpenPart[], goalUs: number): boolean {
  let best: { readonly at: number; readonly to: OpenPart } | undefined;
  let bestUs = goalUs;
  for (const [at, document] of last.documents.entries()) {
    const leftUs = last.finishWithoutUs(at);
    if (leftUs >= bestUs) continue;
    for (const to of parts) {
      if (to === last) continue;
      const us = Math.max(leftUs, to.finishWithUs({ first: document, last: document }));
      if (us >= bestUs) continue;
      bestUs = us;
      best = { at, to };
    }
  }
  if (best === undefined) return false;
  const document = last.documents[best.at] as number;
  last.put(last.documents.filter((other) => other !== document));
  best.to.add({ first: document, last: document });
  return true;
}

/** Exchanges the first two documents that help. False: none do. */
function exchange(last: OpenPart, parts: readonly OpenPart[], goalUs: number): boolean {
  for (const other of parts) {
    if (other === last) continue;
    const before = [last.documents, other.documents] as const;
    for (const given of before[0]) {
      for (const taken of before[1]) {
        last.put(exchanged(before[0], given, taken));
        other.put(exchanged(before[1], taken, given));
        if (Math.max(last.finishUs, other.finishUs) < goalUs) return true;
      }
    }
    last.put(before[0]);
    other.put(before[1]);
  }
  return false;
}

function exchanged(documents: readonly number[], without: number, added: number): number[] {
  const left = documents.filter((document) => document !== without);
  left.splice(placeOf(left, added), 0, added);
  return left;
}
