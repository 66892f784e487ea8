import { readFileSync } from 'node:fs';
import { ABI_DIGEST, loadAddon } from '@tessera/native';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ENGINE_OPTIONS } from './engine-options.js';

const addon = loadAddon();
const description = addon.describeAbi();
const sources = ['abi.ts', 'store-abi.ts', 'generated/types.ts'].map((name) =>
  ts.createSourceFile(
    name,
    readFileSync(new URL(`../../native/ts/${name}`, import.meta.url), 'utf8'),
    ts.ScriptTarget.ES2022,
  ),
);

/** Names of the members of a type, in order. */
function members(typeName: string): string[] {
  for (const source of sources) {
    for (const statement of source.statements) {
      const isAlias = ts.isTypeAliasDeclaration(statement);
      if (!isAlias && !ts.isInterfaceDeclaration(statement)) continue;
      const shape = isAlias ? statement.type : statement;
      if (statement.name.text !== typeName) continue;
      if (!ts.isTypeLiteralNode(shape) && !ts.isInterfaceDeclaration(shape)) continue;
      return shape.members.map((member) => member.name?.getText(source) ?? '');
    }
  }
  throw new Error(`native/ts has no type ${typeName}`);
}

const VALID: Readonly<Record<string, Record<string, unknown>>> = {
  EngineOptions: ENGINE_OPTIONS,
  CatalogueBuildOptions: {
    sources: ['/nowhere.json'],
    domains: [''],
    titlesPath: '',
    levelSizes: new Uint32Array(),
    outputPath: '/nowhere/out',
  },
};

async function call(struct: string, value: unknown): Promise<unknown> {
  try {
    if (struct === 'EngineOptions') await addon.engineOpen(value as never, () => undefined);
    else await addon.catalogueBuild(value as never, () => undefined);
  } catch (thrown) {
    return thrown;
  }
  return undefined;
}

describe('abi.ts and the addon', () => {
  it('list the same functions in the same order', () => {
    expect([...description.functions]).toEqual([
      ...members('NativeAddon'),
      ...members('StoreAddon'),
    ]);
  });

  it.each(description.structs)('list the same fields of $name in the same order', (struct) => {
    expect([...struct.fields]).toEqual(members(struct.name));
  });

  it('were made from the same descriptions, and agree on the first code being OK', () => {
    expect(description.digest).toBe(ABI_DIGEST);
    expect(description.codes[0]).toBe('OK');
  });

  const fields = Object.entries(VALID).flatMap(([struct, value]) =>
    Object.keys(value).map((field) => [struct, field] as const),
  );

  it.each(fields)('refuse %s without %s, naming the field', async (struct, field) => {
    const { [field]: _, ...rest } = VALID[struct] ?? {};
    const error = await call(struct, rest);
    expect(error).toMatchObject({ code: 'REQUEST_INVALID' });
    expect((error as Error).message).toContain(field);
  });

  it.each(fields)(
    'refuse %s whose %s has another type, naming the field',
    async (struct, field) => {
      for (const wrong of [null, undefined, true, {}, -1, 0.5, Number.NaN, Symbol.iterator]) {
        const error = await call(struct, { ...VALID[struct], [field]: wrong });
        expect(error).toMatchObject({ code: 'REQUEST_INVALID' });
        expect((error as Error).message).toContain(field);
      }
    },
  );

  it.each(Object.keys(VALID))('refuse %s with an unknown field, naming it', async (struct) => {
    const error = await call(struct, { ...VALID[struct], surplus: 1 });
    expect(error).toMatchObject({ code: 'REQUEST_INVALID' });
    expect((error as Error).message).toContain('surplus');
  });

  it('refuse what is no handle and a handle of another kind', async () => {
    for (const wrong of [null, undefined, 1, 'engine', {}, Object.create(null)]) {
      expect(() => addon.engineModel(wrong as never)).toThrow(/handle/);
      expect(() => addon.catalogueInfo(wrong as never)).toThrow(/handle/);
    }
  });
});
