import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from './load-config.js';
import { OPERATOR_KEYS } from './operator-keys.js';
import { repositoryRoot } from './repository-root.js';
import { CONFIG_KEYS } from './schema.js';

const KEYS_MAX = 130;
const OPERATOR_KEYS_MAX = 43;

const folder = temporaryFolder({});
afterAll(() => folder.remove());

/** Keys of earlier versions that are constants now, or are set by others. */
const REMOVED = [
  ...['adapters.normMax', 'adapters.overlapMinPercent', 'adapters.rankMax', 'adapters.samplesMin'],
  ...['adapters.s3Endpoint', 'adapters.s3Region', 'adapters.shadowPercent'],
  ...['behaviours.keyPrefix', 'behaviours.redisTls', 'catalogue.compactAfterChanges'],
  ...['catalogue.domain', 'catalogue.toleratedRows', 'cluster.log', 'cluster.logLeaseMs'],
  ...['console.sqlSeconds'],
  ...['embedding.queueTextsMax', 'embedding.threadCount', 'engine.batching'],
  ...['engine.queueCapacity', 'grpc.streamsMax', 'http.bodyBytesMax', 'http.headersMs'],
  ...['kafka.audits', 'kafka.createPartitions', 'kafka.requestsTopic', 'kv.eviction', 'kv.pool'],
  ...['kv.sharedBytesPerSecond', 'kv.sharedHours', 'model.activationScalesPath'],
  ...['recall.defaultResultCount'],
  ...['recall.defaultWidths', 'recall.itemsPerSid', 'recall.scoreNorm', 'relevance.queueCapacity'],
  ...['relevance.threadCount', 'tasks.threads', 'tracing.otlpUrl', 'tracing.sampler'],
  ...['weights.waitMaxMs'],
];

const variableOf = (path: string) =>
  `TESSERA_${path
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace('.', '_')
    .toUpperCase()}`;

describe('the keys', () => {
  it('are few, and those of an operator fewer', () => {
    expect(CONFIG_KEYS.length).toBeLessThanOrEqual(KEYS_MAX);
    const plain = CONFIG_KEYS.filter(({ isAdvanced }) => !isAdvanced).map(({ path }) => path);
    expect(plain.length).toBeLessThanOrEqual(OPERATOR_KEYS_MAX);
    expect(new Set(plain)).toEqual(OPERATOR_KEYS);
  });

  it.each(REMOVED)('refuse %s, which is none any more', (path) => {
    const environment = { [variableOf(path)]: '1' };
    expect(() => loadConfig({ environment })).toThrow(variableOf(path));
    const [area = '', name = ''] = path.split('.');
    const file = join(folder.path, 'config.json');
    writeFileSync(file, JSON.stringify({ [area]: { [name]: 1 } }));
    const unknown = ['tasks', 'tracing'].includes(area) ? area : path;
    expect(() => loadConfig({ file, environment: {} })).toThrow(`${unknown}: unknown key`);
  });

  it('have a constant where docs/operate/configuration.md has no row', () => {
    const page = readFileSync(join(repositoryRoot, 'docs/operate/configuration.md'), 'utf8');
    for (const path of REMOVED) expect(page).not.toContain(`| \`${path}\` |`);
  });
});
