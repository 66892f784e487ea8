import { METHODS } from '@tessera/methods';
import { expect, it } from 'vitest';
import { FORWARDED } from './forwarded-methods.js';
import { fieldNumber } from './message-fields.js';

it('has every method of the table that is not for each node alone', () => {
  const served = METHODS.flatMap(({ path, routing }) => (routing.to === 'node' ? [] : [path]));
  expect([...FORWARDED.keys()]).toEqual(served);
});

it('has the numbers of the fields that the table names', () => {
  const routing = (path: string) => FORWARDED.get(`/tessera.${path}`);
  expect(routing('recall.v1.RecallService/Recall')).toEqual({ to: 'user', userAt: [2] });
  expect(routing('explain.v1.ExplainService/Explain')).toEqual({
    to: 'user',
    userAt: [1, 2],
    nodeAt: [3, 7],
  });
  expect(routing('behaviour.v1.BehaviourService/Append')).toEqual({
    to: 'owners',
    parts: { number: 1, name: 'behaviours' },
    partsMax: 10_000,
    userAt: [1],
    userNamed: 'userId',
    outcomes: { number: 1, name: 'outcomes', isPacked: true },
    failure: undefined,
  });
  expect(routing('recall.v1.RecallService/RecallBatch')).toMatchObject({
    userAt: [2],
    outcomes: { number: 1, name: 'outcomes', isPacked: false },
    failure: { number: 2, name: 'failure', message: '.tessera.recall.v1.RecallFailure' },
  });
  expect(routing('relevance.v1.RelevanceService/Score')).toEqual({ to: 'split' });
});

it('names a field that no message has', () => {
  const wrong = () => fieldNumber('tessera.recall.v1.RecallRequest', 'userId.name');
  expect(wrong).toThrow('expected a field tessera.recall.v1.RecallRequest.userId.name, got none');
});
