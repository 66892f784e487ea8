import { expect, it } from 'vitest';
import { isInnerPath } from './inner-path.js';

it.each(['a', 'a/b.json', 'a/.hidden', 'a/..b', 'weights/weights.copy.json'])(
  '%j leads below its folder',
  (path) => expect(isInnerPath(path)).toBe(true),
);

it.each(['', '.', '..', '/', '/etc/passwd', 'a/', 'a//b', 'a/../b', '../a', 'a\\b', 'a\0b'])(
  '%j is refused',
  (path) => expect(isInnerPath(path)).toBe(false),
);
