import { expect, it } from 'vitest';
import { decideVersions } from './decided-versions.js';

const report = (name: string, model: string, weight = 1, promptTemplate = 't') => ({
  name,
  weight,
  versions: { model, promptTemplate, service: name },
});

it('takes the version of the greatest weight, and names those that differ', () => {
  const decided = decideVersions([report('c', 'm2'), report('a', 'm1'), report('b', 'm2')]);
  expect(decided.versions).toEqual({ model: 'm2', promptTemplate: 't' });
  expect(decided.differences).toEqual([{ name: 'a', kind: 'model', expected: 'm2', got: 'm1' }]);
});

it('counts weights, and of equals takes the node whose name comes first', () => {
  expect(
    decideVersions([report('a', 'm1', 5), report('b', 'm2'), report('c', 'm2')]),
  ).toMatchObject({ versions: { model: 'm1' }, differences: [{ name: 'b' }, { name: 'c' }] });
  expect(decideVersions([report('b', 'm2'), report('a', 'm1')]).versions.model).toBe('m1');
});

it('decides on model and template as one', () => {
  const reports = [report('a', 'm', 1, 't1'), report('b', 'm', 1, 't2'), report('c', 'm', 1, 't2')];
  const differences = [{ name: 'a', kind: 'promptTemplate', expected: 't2', got: 't1' }];
  expect(decideVersions(reports).differences).toEqual(differences);
  expect(decideVersions([]).differences).toEqual([]);
});
