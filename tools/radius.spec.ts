import { describe, expect, it } from 'vitest';
import { isCounted, RADIUS_MAX, radii, radiusFaults } from './radius.mjs';

const PROTO = `
message RecallVersions {
  string model = 1;
  // Name of the process.
  string made_by = 7;
}

message RecallResponse {
  string request_id = 1;
  RecallVersions versions = 9;
}
`;

/** Files that name the field beside its holder, `count` of them. */
function named(count: number, text = 'const { versions } = a; versions.madeBy;') {
  const paths = Array.from({ length: count }, (_, index) => `libs/service/recall/src/f${index}.ts`);
  return new Map([['proto/a.proto', PROTO], ...paths.map((path) => [path, text] as const)]);
}

describe('the radius of a field of an answer', () => {
  it('is at most four hand-written product files, the proto included', () => {
    expect(radiusFaults(named(RADIUS_MAX - 1), {})).toEqual([]);
    const [fault, ...others] = radiusFaults(named(RADIUS_MAX), {});
    expect(others).toEqual([]);
    expect(fault?.message).toMatch(/^RecallVersions\.madeBy: expected at most 4 .* got 5: proto/);
  });

  it('may be the ceiling of a field that is older than the rule, and no more', () => {
    expect(radiusFaults(named(5), { 'RecallVersions.madeBy': 6 })).toEqual([]);
    expect(radiusFaults(named(6), { 'RecallVersions.madeBy': 6 })).toHaveLength(1);
    expect(radiusFaults(named(9), { 'RecallVersions.madeBy': null })).toEqual([]);
  });

  it('counts C++ by its spelling, and no file that has the name of another thing', () => {
    const cpp = new Map([...named(0), ['native/src/a.h', 'int made_by(Versions& versions);']]);
    expect(radii(cpp).find(({ name }) => name === 'RecallVersions.madeBy')?.paths).toHaveLength(2);
    expect(radiusFaults(named(9, 'const { madeBy } = tree; // of versions'), {})).toEqual([]);
  });

  it('leaves out what is generated, tests, and the pages of the console', () => {
    const left = [
      'libs/a/src/generated/b.ts',
      'libs/a/src/b.spec.ts',
      'apps/console/web/src/b.tsx',
    ];
    expect(left.filter(isCounted)).toEqual([]);
    expect(['libs/a/src/b.ts', 'native/src/a/b.cc', 'proto/a.proto'].every(isCounted)).toBe(true);
  });
});
