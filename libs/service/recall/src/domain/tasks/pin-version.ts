import type { Catalogue, Reach } from '@tessera/engine';
import { reachRequestOf } from '../request/reach-request.js';
import type { RecallRequest } from '../request/request-types.js';

/** Item ID of a question that asks for the version alone. */
const NO_ITEM_ID = '';

/**
 * A version of the catalogue with what a request may get of it and by what. Rejects with
 * CATALOGUE_NOT_FOUND where it is not kept, and with REQUEST_INVALID.
 */
export async function pinVersion(
  catalogue: Catalogue,
  request: RecallRequest,
  sequence: number,
): Promise<Reach> {
  const asked = { request: reachRequestOf(request, catalogue), itemId: NO_ITEM_ID, sequence };
  return (await catalogue.judge(asked)).reach;
}
