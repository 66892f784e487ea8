import { invalid } from '@tessera/grpc';
import type { KeptErasures } from '../kept-erasures.js';
import { deadlineOf, type OneNodeCalls } from './one-node.js';
import type { UnaryHop } from './unary-hop.js';
import { numberAt, textAt } from './wire-path.js';

const ERASE = '/tessera.behaviour.v1.BehaviourService/Erase';
/** `with_records` of KvPoolService/DropUser. */
const WITH_RECORDS = 3;
/** Where the call has no deadline. */
const DEADLINE_MS = 10_000;

function userOf(request: Buffer, userAt: readonly number[]): string {
  const bytes = textAt(request, userAt);
  if (bytes === undefined) throw invalid('userId', 'text that is not empty', 'nothing');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('userId', 'valid UTF-8', 'bytes that are not');
  }
}

/**
 * BehaviourService/Erase and KvPoolService/DropUser: answered when every node that may hold the
 * user has confirmed. A drop without its records is no erasure: it is asked of all and not kept.
 */
export async function forgetUser(
  erasures: KeptErasures,
  calls: OneNodeCalls,
  path: string,
  call: UnaryHop,
  userAt: readonly number[],
  dropOnce: (call: UnaryHop) => Promise<Buffer>,
): Promise<Buffer> {
  const userId = userOf(call.request, userAt);
  const leftMs = deadlineOf(call) - Date.now();
  const deadlineMs = Number.isFinite(leftMs) ? leftMs : DEADLINE_MS;
  if (path !== ERASE) {
    if (numberAt(call.request, WITH_RECORDS) === 0) return dropOnce(call);
    await erasures.forget(userId, true, deadlineMs);
    return Buffer.alloc(0);
  }
  let answer: Buffer = Buffer.alloc(0);
  await erasures.forget(userId, false, deadlineMs, async () => {
    answer = await calls.unary(path, call, userAt);
  });
  return answer;
}
