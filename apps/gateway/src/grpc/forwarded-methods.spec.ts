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
    partsAt: 1,
    userAt: [1],
    outcomesAt: 1,
  });
  expect(routing('relevance.v1.RelevanceService/Score')).toEqual({ to: 'split' });
});

it('names a field that no message has', () => {
  const wrong = () => fieldNumber('tessera.recall.v1.RecallRequest', 'userId.name');
  expect(wrong).toThrow('expected a field tessera.recall.v1.RecallRequest.userId.name, got none');
});
