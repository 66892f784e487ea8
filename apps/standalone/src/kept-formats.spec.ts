import { loadConfig } from '@tessera/config';
import { temporaryFolder } from '@tessera/testing';
import { expect, it } from 'vitest';
import { keptFormats } from './kept-formats.js';

it('names what conversions have kept, and nothing else', () => {
  const folder = temporaryFolder({
    'changes/abc/1.changes.v1': '',
    'changes/abc/2.changes': '',
    'adapters/registry.v1.json': '',
    'adapters/registry.json': '',
  });
  const { config } = loadConfig({
    environment: {
      TESSERA_CATALOGUE_CHANGES_PATH: `${folder.path}/changes`,
      TESSERA_ADAPTERS_PATH: `${folder.path}/adapters`,
      TESSERA_WEIGHTS_PATH: `${folder.path}/absent`,
    },
  });
  expect(keptFormats(config)).toEqual([
    `${folder.path}/changes/abc/1.changes.v1`,
    `${folder.path}/adapters/registry.v1.json`,
  ]);
  folder.remove();
});
