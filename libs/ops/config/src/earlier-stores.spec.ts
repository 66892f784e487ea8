import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, loadConfig, noticeOfEarlierStores, repositoryRoot } from '@tessera/config';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';

let root: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  root = temporaryFolder({ 'data/behaviours/log': 'x', 'data/kv/block': 'x' });
});
afterEach(() => root.remove());

/** As of a repository in the folder of the test. */
function configOf(environment: Record<string, string>): Config {
  const { config } = loadConfig({ environment });
  return JSON.parse(JSON.stringify(config).replaceAll(repositoryRoot, root.path));
}

const at = (...parts: string[]) => join(root.path, ...parts);
const notice = (environment: Record<string, string> = {}, stores?: readonly string[]) =>
  noticeOfEarlierStores(configOf(environment), stores, root.path);

it('stores where the demo had them are named with the remedy', () => {
  expect(notice()).toContain(`${at('data/demo')}, which has none of them; found`);
  expect(notice()).toContain(`found ${at('data/behaviours')}: if`);
  expect(notice()).toMatch(/CHANGELOG\.md.*model\.path \(TESSERA_MODEL_PATH\)/);
  // A cache of the demo does not say that its stores are there.
  mkdirSync(at('data/demo/kv/block'), { recursive: true });
  expect(notice()).not.toBe('');
});

it('nothing is said once the demo has stores, where none are earlier, and of other models', () => {
  expect(notice({ TESSERA_MODEL_PATH: '/models/mine' })).toBe('');
  expect(notice({ TESSERA_BEHAVIOURS_STORE: 'redis', TESSERA_BEHAVIOURS_REDIS: 'a:1' })).toBe('');
  expect(notice({ TESSERA_BEHAVIOURS_PATH: at('other') })).toBe('');
  expect(notice({}, ['changes'])).toBe('');
  mkdirSync(at('data/demo/changes/digest'), { recursive: true });
  expect(notice()).toBe('');
  // A process of behaviours alone does not take changes for its store.
  expect(notice({}, ['behaviours'])).not.toBe('');
});
