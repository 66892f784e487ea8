import { expect, it } from 'vitest';
import { dataRootOf } from './repository-root.js';

it.each([
  ['/home/me/tessera', '/work', '/home/me/tessera'],
  ['/app', '/', '/app'],
  ['/srv/mine/node_modules/@tessera/service', '/srv/mine', '/srv/mine'],
])('stores of %s, started in %s, lie below %s', (root, workingFolder, expected) => {
  expect(dataRootOf(root, workingFolder)).toBe(expected);
});
