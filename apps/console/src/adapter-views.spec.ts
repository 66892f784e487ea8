import { expect, it } from 'vitest';
import { withServing } from './adapter-views.js';

const change = (action: string, digest: string, timeMs: number) => {
  const said = { actor: 'ann', role: 'admin', outcome: 'OK', detail: '' };
  return Object.assign({ action, digest, timeMs, name: 'ads' }, said);
};
const version = (state: 'active' | 'canary' | 'retired', digest: string) => ({
  state,
  digest,
  name: 'ads',
  changedMs: 20,
});

it('names the activation of a version that no line of the audits tells of', () => {
  const push = change('push', 'bbbb', 30);
  const told = withServing([push], [version('active', 'aaaa'), version('retired', 'cccc')], true);
  expect(told.map(({ action, digest, timeMs }) => [action, digest, timeMs])).toEqual([
    ['push', 'bbbb', 30],
    ['activate', 'aaaa', 20],
  ]);
});

it('leaves out what the audits tell, may tell further back, or tell as a rollback', () => {
  const serving = [version('active', 'aaaa')];
  const activated = [change('activate', 'aa', 20)];
  expect(withServing(activated, serving, true)).toEqual(activated);
  expect(withServing([], serving, false)).toEqual([]);
  const back = [change('rollback', 'bbbb', 20)];
  expect(withServing(back, serving, true)).toEqual(back);
});
