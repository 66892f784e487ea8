import type { Popularity } from '@tessera/behaviour';
import { countedCaps } from '../context/count-caps.js';
import type { Preparation, ScopedContext } from '../context/preparation.js';
import type { Prepared, Stopwatch } from '../context/prepared.js';
import { checkRequest } from '../request/check-recall.js';
import { reachRequestOf, withCaps } from '../request/reach-request.js';
import type { RecallRequest } from '../request/request-types.js';
import type { AskedRecall } from './phase.js';
import { Ranker } from './ranker.js';

/** Sources of a prompt other than the user's history. */
interface Sources {
  /** Answers users without history in place of a prompt. */
  readonly popularity?: Popularity | undefined;
  /** The prompt that an earlier recall had; undefined where there is none to replay. */
  readonly replay?: (stopwatch: Stopwatch) => Prepared | undefined;
}

/** Checks a recall against everything that needs no prompt, and prepares it. */
export async function askedRecall(
  preparation: Preparation,
  request: RecallRequest,
  context: ScopedContext,
  { popularity, replay }: Sources,
): Promise<AskedRecall> {
  const { parts, limits } = preparation;
  const stopwatch = preparation.begin(context);
  const search = checkRequest(request, limits);
  const uncapped = reachRequestOf(request, parts.catalogue);
  const ranker = request.rank && Ranker.of(request.rank, context, parts.catalogue);
  const replayed = replay?.(stopwatch);
  const prepared = replayed ?? (await preparation.prepare(request, context, stopwatch, popularity));
  const caps = countedCaps(request, prepared, parts, preparation.seenActions);
  return {
    parts,
    request,
    search,
    ranker,
    prepared,
    caps,
    reachRequest: withCaps(uncapped, caps.caps),
    pinned: context.pinned,
    signal: context.signal,
    leftUs: () => context.budgetUs - stopwatch.totalUs(),
  };
}
