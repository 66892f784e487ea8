import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join, resolve } from 'node:path';
import {
  CONFIG_KEYS,
  describeConfig,
  followsLog,
  loadConfig,
  repositoryRoot,
} from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(os.tmpdir(), 'tessera-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fileWith(content: string): string {
  const file = join(folder, 'config.json');
  writeFileSync(file, content);
  return file;
}

function faultsOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(TesseraError);
    expect((error as TesseraError).code).toBe('CONFIG_INVALID');
    return (error as TesseraError).message;
  }
  throw new Error('expected CONFIG_INVALID, nothing was thrown');
}

/** Folders of the repository's data that a configuration has, by the key's path. */
function dataFolders(environment: Record<string, string>): Record<string, string> {
  const data = join(repositoryRoot, 'data/');
  const described = describeConfig(loadConfig({ environment })).split('\n');
  const rows = described.map((row) => /^\w+=(.*) {2}# ([\w.]+), /.exec(row) ?? []);
  const inData = rows.filter(([, value = '']) => value.startsWith(data));
  return Object.fromEntries(inData.map(([, value = '', key]) => [key, value.slice(data.length)]));
}

describe('folders of stores that no key names', () => {
  const STORES = {
    'catalogue.cachePath': 'catalogue',
    'catalogue.changesPath': 'changes',
    'behaviours.path': 'behaviours',
    'kv.path': 'kv',
    'adapters.path': 'adapters',
    'weights.path': 'weights',
    'inspection.path': 'inspection',
  };
  const DEMO = Object.fromEntries(
    Object.entries(STORES).map(([key, name]) => [key, join('demo', name)]),
  );

  it('are apart for the demo, whoever names its model', () => {
    expect(dataFolders({})).toEqual(DEMO);
    for (const path of [join(repositoryRoot, 'models/demo'), `${repositoryRoot}/models/x/../demo/`])
      expect(dataFolders({ TESSERA_MODEL_PATH: path })).toEqual(DEMO);
    expect(dataFolders({ TESSERA_MODEL_PATH: '/models/mine' })).toEqual(STORES);
  });

  it('follow a model that the file names', () => {
    const file = fileWith('{"model": {"path": "/models/mine"}}');
    const { config } = loadConfig({ file, environment: {} });
    expect(config.behaviours.path).toBe(join(repositoryRoot, 'data/behaviours'));
  });

  it('stay where a key puts them, or are none', () => {
    const variables = { TESSERA_BEHAVIOURS_PATH: 'data/behaviours', TESSERA_ADAPTERS_PATH: '' };
    const { config } = loadConfig({ environment: variables });
    expect(config.behaviours.path).toBe(resolve('data/behaviours'));
    expect(config.adapters.path).toBe('');
    expect(config.kv.path).toBe(join(repositoryRoot, 'data/demo/kv'));
  });
});

it('formulas of values are those of the model folder where its own catalogue is served', () => {
  const pathOf = (environment: Record<string, string>) =>
    loadConfig({ environment }).config.recall.valuations;
  expect(pathOf({})).toBe(join(repositoryRoot, 'models/demo/valuations.json'));
  expect(pathOf({ TESSERA_CATALOGUE_PATH: 'ads.jsonl' })).toBe('');
  expect(pathOf({ TESSERA_RECALL_VALUATIONS: 'v.json' })).toBe(resolve('v.json'));
});

describe('loadConfig', () => {
  it('takes defaults where nothing is said', () => {
    const { config, origins } = loadConfig({ environment: {} });
    expect(config.http).toMatchObject({ host: '127.0.0.1', port: 8080 });
    expect([config.http.trustedProxies, config.http.certificatePath]).toEqual(['', '']);
    expect(config.grpc.port).toBe(50_051);
    expect(config.model.path.endsWith(join('models', 'demo'))).toBe(true);
    expect(origins.size).toBe(0);
  });

  it("takes OpenTelemetry's variables, and refuses strangers", () => {
    const tracing = (environment: Record<string, string>) =>
      loadConfig({ environment }).config.tracing;
    expect(
      tracing({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.001',
      }),
    ).toEqual({ otlpUrl: 'http://c:4318/v1/traces', percent: 0.1, sampler: 'traceidratio' });
    expect(
      tracing({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t:4318/own',
        OTEL_TRACES_SAMPLER: 'always_on',
      }),
    ).toEqual({ otlpUrl: 'http://t:4318/own', percent: 100, sampler: 'always_on' });
    const c = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' };
    for (const off of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }]) {
      expect(tracing(Object.assign({}, c, off)).otlpUrl).toBe('');
    }
    expect(() => tracing({ OTEL_TRACES_SAMPLER: 'jaeger_remote' })).toThrow(
      /OTEL_TRACES_SAMPLER: expected one of .*, got jaeger_remote/,
    );
    expect(() =>
      tracing({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '7' }),
    ).toThrow(/OTEL_TRACES_SAMPLER_ARG: expected a number of 0..1, got 7/);
  });

  it('lets the environment win over the file and the file over defaults', () => {
    const file = fileWith('{"http": {"port": 1000, "host": "::1"}}');
    const { config } = loadConfig({ file, environment: { TESSERA_HTTP_PORT: '2000' } });
    expect(config.http.port).toBe(2000);
    expect(config.http.host).toBe('::1');
  });

  it('freezes the whole tree', () => {
    const { config } = loadConfig({ environment: { TESSERA_CATALOGUE_LEVEL_SIZES: '5,6' } });
    expect(config.catalogue.levelSizes).toEqual([5, 6]);
    expect(Object.isFrozen(config.catalogue.levelSizes)).toBe(true);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('refuses a key that the file has twice', () => {
    const file = fileWith('{"engine": {"widthMax": 100, "widthMax": 200}}');
    const message = faultsOf(() => loadConfig({ file, environment: {} }));
    expect(message).toContain(`${file}: 'engine.widthMax' twice`);
  });

  it('reports every bad key at once with what was expected and what it got', () => {
    const file = fileWith('{"htp": {}, "log": {"levl": "info"}, "grpc": 3}');
    const message = faultsOf(() =>
      loadConfig({
        file,
        environment: {
          TESSERA_HTTP_PORT: '65536',
          TESSERA_ENGINE_WIDTH_MAX: '1.5',
          TESSERA_HTTP_PROT: '1',
          TESSERA_ENGINE_THREADS: '1',
        },
      }),
    );
    expect(message).toContain(
      'http.port (TESSERA_HTTP_PORT): expected integer 0..65535, got 65536',
    );
    expect(message).toContain('engine.widthMax (TESSERA_ENGINE_WIDTH_MAX)');
    expect(message).toMatch(/TESSERA_HTTP_PROT: .* did you mean TESSERA_HTTP_PORT\?/);
    expect(message).toMatch(/TESSERA_ENGINE_THREADS: .* did you mean TESSERA_ENGINE_\w+\?/);
    expect(message).toContain('htp: unknown key');
    expect(message).toContain('log.levl: unknown key');
    expect(message).toContain('grpc: expected a JSON object');
  });

  it('starts beside what an orchestrator or another program sets, and says what it ignores', () => {
    const environment = {
      TESSERA_SERVICE_HOST: '10.0.0.1',
      TESSERA_SERVICE_PORT_GRPC: '50051',
      TESSERA_PORT: 'tcp://10.0.0.1:50051',
      TESSERA_PORT_50051_TCP_ADDR: '10.0.0.1',
      TESSERA_GRPC_SERVICE_HOST: '10.0.0.2',
      TESSERA_GRPC_PORT: 'tcp://10.0.0.2:50051',
      TESSERA_CLUSTER_PORT: 'tcp://10.0.0.3:7000',
      TESSERA_CLUSTER_PORT_7000_TCP: 'tcp://10.0.0.3:7000',
      TESSERA_KAFKA_SERVICE_PORT_CLIENTS: '9092',
      TESSERA_HTTP_PORT: 'udp://[fd00::1]:8080',
      TESSERA_IMAGE_TAG: 'v3',
    };
    const loaded = loadConfig({ environment });
    expect(loaded.ignored).toEqual(Object.keys(environment));
    expect(loaded.config).toEqual(loadConfig({ environment: {} }).config);
    expect(describeConfig(loaded)).toContain('# TESSERA_IMAGE_TAG: ignored, no key');
  });

  it('starts beside the token of the commands, which is no key of the service', () => {
    expect(loadConfig({ environment: { TESSERA_TOKEN: 'secret' } }).ignored).toEqual([]);
  });

  it('searches until an answer is certified, unless a beam is configured', () => {
    expect(loadConfig({ environment: {} }).config.recall).toMatchObject({
      search: 'certified',
      rowBudget: 0,
    });
    const beam = { TESSERA_RECALL_SEARCH: 'beam', TESSERA_RECALL_ROW_BUDGET: '96' };
    const { recall } = loadConfig({ environment: beam }).config;
    expect(recall).toMatchObject({ search: 'beam', rowBudget: 96 });
    const message = faultsOf(() =>
      loadConfig({ environment: { TESSERA_RECALL_ROW_BUDGET: '65537' } }),
    );
    expect(message).toContain('expected integer 0..65536, got 65537');
  });

  it('refuses fewer rows than beams, naming the key', () => {
    const environment = {
      TESSERA_ENGINE_BATCH_ROWS_MAX: '511',
    };
    const message = faultsOf(() => loadConfig({ environment }));
    expect(message).toContain('engine.batchRowsMax: expected at least engine.widthMax (512)');
  });

  it.each([
    'store.example:9000',
    'ftp://store.example',
    'https://user:secret@store.example',
    'https://store.example/bucket',
  ])('refuses %s as the address of a store', (endpoint) => {
    const environment = { AWS_ENDPOINT_URL: endpoint, TESSERA_ADAPTERS_S3_BUCKETS: 'b' };
    expect(faultsOf(() => loadConfig({ environment }))).toContain('AWS_ENDPOINT_URL: expected');
  });

  it('names a file that is absent or is not JSON', () => {
    expect(
      faultsOf(() => loadConfig({ file: join(folder, 'none.json'), environment: {} })),
    ).toContain('none.json');
    expect(faultsOf(() => loadConfig({ file: fileWith('{'), environment: {} }))).toContain(
      'config.json',
    );
  });

  it('accepts every bound and refuses the first value beyond it', () => {
    for (const key of CONFIG_KEYS.filter((candidate) => candidate.kind === 'integer')) {
      const [, min, max] = /^integer (\d+)\.\.(\d+)$/.exec(key.expected) ?? [];
      for (const beyond of [Number(min) - 1, Number(max) + 1]) {
        const message = faultsOf(() =>
          loadConfig({ environment: { [key.variable]: String(beyond) } }),
        );
        expect(message).toContain(key.path);
      }
    }
  });

  it('prints every key with its origin', () => {
    const text = describeConfig(loadConfig({ environment: { TESSERA_LOG_LEVEL: 'warn' } }));
    expect(text.split('\n')).toHaveLength(CONFIG_KEYS.length);
    expect(text).toContain('TESSERA_LOG_LEVEL=warn  # log.level, environment');
  });
});

it('takes a role of a node beside a store that all nodes share, and only there', () => {
  const load = (role: string, shared: string) =>
    loadConfig({ environment: { TESSERA_CLUSTER_ROLE: role, TESSERA_KV_SHARED: shared } }).config;
  for (const role of ['append', 'answer']) {
    const fault = `cluster.role: expected both where kv.shared names no store, got ${role}`;
    expect(() => load(role, '')).toThrow(fault);
    expect(load(role, 'redis://127.0.0.1:6379').cluster.role).toBe(role);
  }
  expect(load('both', '').cluster.role).toBe('both');
  const off = { TESSERA_KV_SHARED: 'redis://127.0.0.1:6379', TESSERA_KV_DEVICE_BYTES: '0' };
  expect(() => loadConfig({ environment: off })).toThrow('kv.shared: expected no store where');
  expect(() => load('none', '')).toThrow('cluster.role (TESSERA_CLUSTER_ROLE): expected one of');
});

it('follows a log at etcd where its store is named, and none beside etcd alone', () => {
  const load = (logStore: string, etcd: string) =>
    loadConfig({
      environment: { TESSERA_CLUSTER_LOG_STORE: logStore, TESSERA_CLUSTER_ETCD: etcd },
    }).config;
  expect(followsLog(load('s3://logs/mine', 'etcd:2379'))).toBe(true);
  expect(followsLog(load('', 'etcd:2379'))).toBe(false);
  expect(followsLog(load('', ''))).toBe(false);
  const fault = 'cluster.etcd: expected HOST:PORT where cluster.logStore is given';
  expect(() => load('/logs', '')).toThrow(fault);
});

it('names the page of what decides in place of a key of an earlier version', () => {
  const environment = { TESSERA_CLUSTER_LOG: 'etcd' };
  expect(() => loadConfig({ environment })).toThrow(/TESSERA_CLUSTER_LOG: .*CHANGELOG.md, Removed/);
});
