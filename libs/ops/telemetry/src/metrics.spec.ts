import { METRICS, Metrics } from '@tessera/telemetry';
import { describe, expect, it } from 'vitest';
import { registerHeldCallers } from './held-metric.js';

const counts = {
  queued: 1,
  running: 2,
  completed: 3,
  failed: 4,
  cancelled: 5,
  expired: 6,
  prefillTokens: 7,
  decodeTokens: 8,
  forwardPasses: 9,
  prefixReusedTokens: 40,
  rolledBackTokens: 0,
  predictedUs: 3e6,
  actualUs: 2e6,
  expertRows: 80,
  expertPlaces: 100,
  expertsTouched: 30,
};

const tier = {
  capacityBlocks: 100,
  usedBlocks: 60,
  hitTokens: 700,
  readBytes: 5,
  writtenBytes: 6,
  readUs: 2e6,
  writtenUs: 3e6,
  evictedBlocks: 9,
  evictedDirtyBlocks: 4,
};
const kv = {
  chains: 1,
  chainTokens: 2,
  leases: 3,
  lookups: 4,
  askedTokens: 5,
  commits: 6,
  inexactTokens: 21,
  inheritedTokens: 22,
  inheritedChains: 23,
  commitsRematched: 2,
  commitsLost: 7,
  refusedExtends: 9,
  prefetches: 10,
  prefetchesRefused: 11,
  loadsFailed: 12,
  loadsCorrupt: 13,
  loadWaitUs: 14e6,
  stores: 15,
  storesDropped: 16,
  storesFailed: 17,
  storeWaitUs: 18e6,
  storeQueue: 19,
  isStoring: 0,
  looks: 9,
  looksFound: 4,
  lookUs: 2_000_000,
  puts: 31,
  putsChanged: 2,
  putsErased: 1,
  putsFailed: 3,
  loadsMissing: 5,
  headsRefused: 6,
  computeTokenUs: 20e6,
  tiers: [
    { tier: 'device', ...tier },
    { tier: 'host', ...tier },
    { tier: 'remote', ...tier, hitTokens: 42 },
  ],
};

const adapters = {
  recalls: { base: 1, active: 2, canary: 3, named: 4 },
  arena: { usedBytes: 10, maxBytes: 20 },
  disk: { usedBytes: 30, maxBytes: 40 },
  canaries: [{ name: 'main', canaryAnswers: 5, activeAnswers: 6, shadowed: 7, overlap: 0.5 }],
  active: [
    { name: 'main', receivedMs: 1_700_000_000_500, learnedUntilMs: 1_699_999_999_500 },
    { name: 'by-hand', receivedMs: 1_700_000_000_500, learnedUntilMs: 0 },
  ],
  leases: [{ name: 'main', untilMs: 1_700_000_360_500 }],
  warmedAgain: { computed: 3, failed: 1, leftOut: 0 },
};

/** Of a process that is everything. */
function everything() {
  const metrics = new Metrics(
    () => counts,
    () => kv,
  );
  metrics.showAdapters(() => adapters);
  metrics.countGateRefusals()();
  metrics.showConditions(() => [{ name: 'kafka', kind: 'dependency', state: 'down' }]);
  metrics.showDroppedCaches(['snapshot']);
  metrics.showDisks(async () => [{ key: 'kv.path', spareBytes: 7 }]);
  metrics.showBuild({ version: '1.2.3', app: 'gateway' });
  metrics.showCatalogues(() => [{ name: 'b', liveItems: 5, sequence: 9, changedMs: 2500 }]);
  metrics.showTopicLag(() => [{ topic: 'behaviours', records: 8 }]);
  metrics.showCertificates(() => [{ field: 'http.certificatePath', endsMs: 1 }]);
  metrics.showSpans(() => ({ sent: 3, failed: 1 }));
  const lines = { written: 2, failed: 1 };
  const refused = [{ edge: 'grpc', code: 'UNAUTHENTICATED', count: 3 }];
  metrics.showAccess(() => ({ isOpen: true, lines, refused }));
  metrics.showLog(() => ({ offset: 3, end: 4 }));
  metrics.showCluster(() => ({
    forwarded: [{ edge: 'grpc', reason: 'owner', count: 4 }],
    retries: 1,
    refusedAhead: 0,
    nodes: [{ name: 'a', state: 'up', outstandingUs: 500_000 }],
    wanted: 3,
    revision: 2,
  }));
  metrics.showSplit(() => ({
    parts: { answered: 5, failed: 1 },
    splitCalls: 2,
    spreadUs: 250_000,
    sharedTokens: 70,
  }));
  const none = { texts: 0, tokens: 0, truncated: 0, passes: 0, computeUs: 0 };
  metrics.showEmbedding(() => [{ model: 'm', depth: 0, ...none }]);
  registerHeldCallers(metrics.registry, () => 1);
  metrics.showHeld(() => ({ tickets: 2 }));
  metrics.showTasks(() => [{ lane: 'check', waiting: 0, running: 1 }]);
  metrics.countForwarded();
  return metrics;
}

/** Counters by words that nobody can list. */
const OPEN = ['tessera_console_actions_total'];

describe('Metrics', () => {
  it('counts from 0 where the labels are known: rates see the first burst', async () => {
    const all = await everything().registry.getMetricsAsJSON();
    const counters = all.filter(
      ({ name, type }) => String(type) === 'counter' && name.startsWith('tessera'),
    );
    expect(counters.length).toBeGreaterThan(40);
    const silent = counters.filter(({ values }) => values.length === 0);
    expect(silent.map(({ name }) => name).filter((name) => !OPEN.includes(name))).toEqual([]);
    const misnamed = all.filter(
      ({ name, type }) => /_total$/.test(name) && String(type) === 'gauge',
    );
    expect(misnamed).toEqual([]);
    const fault = 'tessera_gateway_requests_total{edge="http",method="RecallService/Recall",code=';
    const text = await everything().text();
    expect(text).toContain(`${fault}"NODE_UNAVAILABLE"} 0`);
    expect(text).toContain('tessera_recall_requests_total{edge="grpc",code="INTERNAL"} 0');
    expect(text).toContain('tessera_cluster_forwarded_total{edge="http",reason="owner-away"} 0');
  });

  it('offers every listed metric with its meaning', async () => {
    const metrics = everything();
    const text = await metrics.text();
    expect(text).toContain('tessera_caches_dropped_total{cache="snapshot"} 1');
    expect(text).toContain('tessera_cluster_outstanding_seconds{node="a"} 0.5');
    expect(text).toContain('tessera_split_parts_total{outcome="failed"} 1');
    expect(text).toContain('tessera_split_spread_seconds_total 0.25');
    expect(text).toContain('tessera_held_while_idle{kind="tickets"} 2');
    expect(text).toContain('tessera_tasks{lane="check",state="running"} 1');
    expect(text).toContain('tessera_adapter_recalls_total{arm="canary"} 3');
    expect(text).toContain('tessera_adapter_bytes{place="disk",kind="capacity"} 40');
    expect(text).toContain('tessera_adapter_canary{name="main",what="shadowed"} 7');
    expect(text).not.toContain('what="overlap"');
    expect(text).toContain('tessera_adapter_canary_overlap{name="main"} 0.5');
    expect(text).toContain('tessera_adapter_received_timestamp_seconds{name="main"} 1700000000.5');
    expect(text).toContain('tessera_adapter_learned_until_seconds{name="main"} 1699999999.5');
    expect(text).not.toContain('tessera_adapter_learned_until_seconds{name="by-hand"}');
    expect(text).toContain('tessera_weights_warmed_users_total{outcome="computed"} 3');
    expect(text).toContain('tessera_adapter_lease_until_seconds{name="main"} 1700000360.5');
    expect(text).toMatch(
      /tessera_build_info\{version="1.2.3",app="gateway",node_version="\d[^"]+"} 1/,
    );
    expect(text).toContain('tessera_catalogue_items{catalogue="b"} 5');
    expect(text).toContain('tessera_catalogue_sequence{catalogue="b"} 9');
    expect(text).toContain('tessera_catalogue_last_change_timestamp_seconds{catalogue="b"} 2.5');
    expect(text).toContain('tessera_disk_spare_bytes{key="kv.path"} 7');
    expect(text).toContain('tessera_topic_lag_records{topic="behaviours"} 8');
    for (const metric of Object.values(METRICS)) {
      expect(text).toContain(`# HELP ${metric.name} ${metric.meaning}`);
    }
  });

  it('copies the counts of the engine at each scrape without adding them up', async () => {
    let completed = 3;
    const metrics = new Metrics(
      () => ({ ...counts, completed }),
      () => kv,
    );
    await metrics.text();
    completed = 10;
    const text = await metrics.text();
    expect(text).toContain('tessera_engine_outcomes_total{outcome="completed"} 10');
    expect(text).toContain('tessera_engine_requests{state="running"} 2');
    expect(text).toContain('tessera_engine_forward_passes_total 9');
  });

  it('shows how far the products with experts were padded, once there were any', async () => {
    let real = 0;
    const metrics = new Metrics(
      () => ({ ...counts, expertRows: real }),
      () => kv,
    );
    expect(await metrics.text()).toContain('tessera_engine_expert_padding_ratio 0\n');
    real = 80;
    const text = await metrics.text();
    expect(text).toContain('tessera_engine_expert_padding_ratio 1.25\n');
    expect(text).toContain('tessera_engine_experts_touched_total 30\n');
  });

  it('tells what the user KV pool did, by tier, and asks it once per scrape', async () => {
    let asked = 0;
    const metrics = new Metrics(
      () => counts,
      () => {
        asked += 1;
        return kv;
      },
    );
    await metrics.text();
    expect(asked).toBe(1);
    const text = await metrics.text();
    expect(asked).toBe(2);
    expect(text).toContain('tessera_kv_hit_tokens_total{tier="remote"} 42');
    expect(text).toContain('tessera_kv_blocks{tier="host",kind="capacity"} 100');
    expect(text).toContain('tessera_kv_transfer_seconds_total{tier="device",direction="read"} 2');
    expect(text).toContain('tessera_kv_evicted_blocks_total{tier="device",kind="kept"} 5');
    expect(text).toContain('tessera_kv_refusals_total{kind="store"} 16');
    expect(text).toContain('tessera_kv_appends_total{outcome="committed"} 4');
    expect(text).toContain('tessera_kv_appends_total{outcome="rematched"} 2');
    expect(text).toContain('tessera_kv_inexact_tokens_total 21');
    expect(text).toContain('tessera_kv_storing 0');
  });

  it('counts an answered recall by edge, code and stage', async () => {
    const metrics = new Metrics(
      () => counts,
      () => kv,
    );
    const stagesUs = { prefillUs: 1500, totalUs: 2500 };
    metrics.observe({ edge: 'http', code: 'OK', seconds: 0.003, stagesUs, short: true });
    metrics.observe({ edge: 'grpc', code: 'ITEM_NOT_FOUND', seconds: 0.001 });
    const text = await metrics.text();
    expect(text).toContain('tessera_recall_requests_total{edge="http",code="OK"} 1');
    expect(text).toContain('tessera_recall_requests_total{edge="grpc",code="ITEM_NOT_FOUND"} 1');
    expect(text).toContain('tessera_recall_stage_seconds_sum{stage="prefill"} 0.0015');
    expect(text).toContain('tessera_recall_short_total 1');
  });
});
