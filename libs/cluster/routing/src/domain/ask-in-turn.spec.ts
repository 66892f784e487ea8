import { ERROR_TRAILERS, GRPC_STATUS } from '@tessera/errors';
import { expect, it } from 'vitest';
import { askInTurn } from './ask-in-turn.js';
import { type Failure, failureOfCall } from './failures.js';

const SEED = 3;
const NAMES = ['a', 'b', 'c', 'd', 'e'];
type Way = 'answers' | Failure;

async function run(ways: readonly Way[], overAfter = Number.POSITIVE_INFINITY) {
  const seen: string[] = [];
  let open = 0;
  let failures = 0;
  const inTurn = {
    next: (without: readonly string[]) => NAMES.find((name) => !without.includes(name)),
    nameOf: (name: string) => name,
    begin: (name: string) => {
      seen.push(name);
      open += 1;
      return (isAnswered: boolean) => {
        open -= 1;
        seen.push(isAnswered ? 'answered' : 'failed');
      };
    },
    failureOf: (thrown: unknown) => thrown as Failure,
    lost: (name: string) => void seen.push(`lost ${name}`),
    isOver: () => failures >= overAfter,
  };
  const act = async (name: string) => {
    const way = ways[NAMES.indexOf(name)] as Way;
    if (way === 'answers') return name;
    failures += 1;
    throw way;
  };
  const ended = await askInTurn(inTurn, act).catch((thrown: unknown) => ({ thrown }));
  expect(open).toBe(0);
  return { seen, ended };
}

/** Said once more in other words: what happens by the list of ways alone. */
function expected(ways: readonly Way[], overAfter: number) {
  const seen: string[] = [];
  let refusal: unknown;
  for (const [at, way] of ways.slice(0, 3).entries()) {
    const name = NAMES[at] as string;
    seen.push(name, way === 'answers' ? 'answered' : 'failed');
    if (way === 'answers') return { seen, ended: { isAnswered: true, answer: name } };
    if (way === 'final' || at + 1 >= overAfter) return { seen, ended: { thrown: way } };
    if (way === 'away') seen.push(`lost ${name}`);
    else refusal = way;
  }
  return { seen, ended: { isAnswered: false, refusal } };
}

it('asks three nodes at most, each once, until one answers or none would help', async () => {
  let state = SEED;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % below;
  };
  const all: readonly Way[] = ['answers', 'away', 'busy', 'final'];
  for (let round = 0; round < 300; round += 1) {
    const ways = NAMES.map(() => all[random(all.length)] as Way);
    const overAfter = random(3) === 0 ? 1 + random(3) : Number.POSITIVE_INFINITY;
    const what = `seed ${SEED}: ${ways.join()} over after ${overAfter}`;
    expect(await run(ways, overAfter), what).toEqual(expected(ways, overAfter));
  }
});

it.each([
  [GRPC_STATUS.UNAVAILABLE, '', '', 'away'],
  [GRPC_STATUS.INTERNAL, 'Received RST_STREAM with code 2', '', 'away'],
  [GRPC_STATUS.INTERNAL, 'Session closed with error code 2', '', 'away'],
  [GRPC_STATUS.INTERNAL, 'a fault', '', 'final'],
  [GRPC_STATUS.DEADLINE_EXCEEDED, '', '', 'final'],
  [GRPC_STATUS.UNAVAILABLE, '', 'ENGINE_OVERLOADED', 'busy'],
  [GRPC_STATUS.UNAVAILABLE, '', 'REQUEST_INVALID', 'final'],
])('takes status %d %j with the code %j for %s', (code, details, named, failure) => {
  const metadata = {
    get: (name: string) => (name === ERROR_TRAILERS.code && named ? [named] : []),
  };
  expect(failureOfCall({ code, details, metadata })).toBe(failure);
});
