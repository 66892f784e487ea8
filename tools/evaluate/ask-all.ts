import { ServiceClient } from '@tessera/client';
import { enumWords } from '@tessera/contracts';
import type { Search } from '@tessera/recall';
import { ProgressLine } from '../terminal/progress.js';
import type { Case } from './cases.js';
import { type Rank, rankOf } from './ranking.js';

const SEARCH = 'tessera.recall.v1.Search';
/** Of each request. */
export const DEADLINE_MS = 600_000;
const REPLY_BYTES_MAX = 64 << 20;

/** Proof and cost of a search. */
export interface Searched {
  readonly certified: boolean;
  readonly rows: number;
}

export interface Answers {
  /** Item IDs per user, best first; none where the request failed. */
  readonly lists: readonly (readonly string[])[];
  readonly ranks: readonly Rank[];
  /** Of the requests that were answered, in any order. */
  readonly searched: readonly Searched[];
  readonly failures: readonly string[];
  /** Items of histories that the catalogue does not have: left out of the prompts. */
  readonly skippedItems: number;
  readonly seconds: number;
}

export interface Load {
  readonly search: Search;
  /** Of a beam. */
  readonly beam: number;
  /** Of a certified search; undefined: as configured. */
  readonly rowBudget: number | undefined;
  readonly concurrency: number;
  readonly results: number;
  /** No item of a user's history is answered. */
  readonly isUnseen?: boolean;
  /** '': by score. */
  readonly valuation?: string;
}

/** The members of a request that say how is searched. */
function searchMembers({ search, beam, rowBudget }: Load) {
  if (search === 'beam') return { search: enumWords[SEARCH].beam, widths: [beam] };
  return { search: enumWords[SEARCH].certified, ...(rowBudget !== undefined && { rowBudget }) };
}

/** Asks every case, `concurrency` at a time. A refused case is a miss and is reported. */
export async function askAll(
  address: string,
  cases: readonly Case[],
  load: Load,
): Promise<Answers> {
  const { concurrency, results, valuation = '', isUnseen = false } = load;
  const client = new ServiceClient('tessera.recall.v1.RecallService', address, {
    channel: { 'grpc.max_receive_message_length': REPLY_BYTES_MAX },
  });
  const progress = new ProgressLine();
  const lists: string[][] = cases.map(() => []);
  const searched: Searched[] = [];
  const failures: string[] = [];
  const started = performance.now();
  let next = 0;
  let done = 0;
  let skippedItems = 0;
  const ask = async ({ userId, history }: Case): Promise<string[]> => {
    const question = {
      history: { itemIds: history },
      ...searchMembers(load),
      resultCount: results,
      // All items of the best SID before those of the next, as the trainer ranks them.
      itemsPerSid: results,
      ...(isUnseen && { eligibility: { seen: history } }),
      ...(valuation !== '' && { valuation: { name: valuation, weights: {} } }),
    };
    try {
      const answer = await client.call('Recall', question, { deadline: Date.now() + DEADLINE_MS });
      skippedItems += answer.skippedItems;
      searched.push(answer);
      return answer.items.map((item) => item.itemId);
    } catch (error) {
      failures.push(`user '${userId}': ${(error as Error).message}`);
      return [];
    }
  };
  const work = async () => {
    for (let at = next++; at < cases.length; at = next++) {
      lists[at] = await ask(cases[at] as Case);
      done += 1;
      const perSecond = (1000 * done) / (performance.now() - started);
      const left = Math.ceil((cases.length - done) / perSecond);
      progress.update('users', done, cases.length, `${perSecond.toFixed(0)}/s, ${left} s left`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  progress.end();
  client.close();
  const seconds = (performance.now() - started) / 1000;
  const ranks = cases.map(({ target }, user) => rankOf(target, lists[user] ?? []));
  return { lists, ranks, searched, failures, skippedItems, seconds };
}
