import { loadConfig } from '@tessera/config';
import { expect, it } from 'vitest';
import { SharedStores } from './shared-stores.js';

const silent = { warn: () => undefined, info: () => undefined } as never;

const stores = (shared: string) =>
  new SharedStores(loadConfig({ environment: { TESSERA_KV_SHARED: shared } }).config, silent);

it('are none where none is named', async () => {
  expect(await stores('  ').open()).toBeUndefined();
});

it.each([
  ['redis://a:1 redis://a:1', /kv\.shared: expected at most 2 stores, each once/],
  ['redis://a:1 redis://b:1 s3://c', /kv\.shared: expected at most 2 stores, each once/],
  ['http://a:1', /kv\.shared: expected redis:/],
  ['redis://user:password@a:1', /kv\.shared: expected no password in the address/],
])('refuse %s before anything is opened', async (address, message) => {
  await expect(stores(address).open()).rejects.toThrow(message);
});

it('has the same word at nodes of one store and prefix, and none without a store', async () => {
  const wordOf = async (shared: string, name = 'one') => {
    const environment = { TESSERA_KV_SHARED: shared, TESSERA_CLUSTER_NAME: name };
    const opened = new SharedStores(loadConfig({ environment }).config, silent);
    await opened.open();
    const { word } = opened;
    await opened.close();
    return word;
  };
  const word = await wordOf('s3://a-bucket');
  expect(word).toMatch(/^[0-9a-f]{12}$/);
  expect(await wordOf('s3://a-bucket')).toBe(word);
  expect(await wordOf('s3://another')).not.toBe(word);
  expect(await wordOf('s3://a-bucket', 'two')).not.toBe(word);
  expect(await wordOf('')).toBeUndefined();
});
