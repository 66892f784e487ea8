import { describe, expect, it } from 'vitest';
import { costs } from './callgrind.js';

const PROFILE = `version: 1
events: Ir

ob=(1) /build/tessera.node
fl=(1) /src/native/src/beam/select.cc
fn=(1) select
10 100
+2 20
cob=(2) /lib/libc.so.6
cfi=(2) malloc.c
cfn=(2) malloc
calls=3 5
* 60
cfn=(3) heap
calls=1 40
14 5000
fi=(3) /src/native/src/beam/scan.inc
15 7
fe=(1)
16 1
cob=(3) /usr/bin/node
cfn=(4) napi_call
calls=1 1
17 900

ob=(2)
fl=(2)
fn=(2)
5 60`;

describe('a callgrind profile', () => {
  const found = new Map<string, number>();
  for (const { place, instructions } of costs(PROFILE.split('\n'))) {
    const key = `${place.object} ${place.file}`;
    found.set(key, (found.get(key) ?? 0) + instructions);
  }

  it("counts a file's own instructions and those of libraries that it calls", () => {
    expect(found.get('/build/tessera.node /src/native/src/beam/select.cc')).toBe(181);
  });

  it('counts what was inlined where it was written', () => {
    expect(found.get('/build/tessera.node /src/native/src/beam/scan.inc')).toBe(7);
  });

  it('counts no call within the object and none into the program', () => {
    const ours = [...found].filter(([key]) => key.startsWith('/build/tessera.node'));
    expect(ours.reduce((sum, [, count]) => sum + count, 0)).toBe(188);
    expect(found.get('/lib/libc.so.6 malloc.c')).toBe(60);
  });
});
