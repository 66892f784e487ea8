import { METRICS, Metrics } from '@tessera/telemetry';
import { describe, expect, it } from 'vitest';

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
};

describe('Metrics', () => {
  it('offers every listed metric with its meaning', async () => {
    const text = await new Metrics(() => counts).text();
    for (const metric of Object.values(METRICS)) {
      expect(text).toContain(`# HELP ${metric.name} ${metric.meaning}`);
    }
  });

  it('copies the counts of the engine at each scrape without adding them up', async () => {
    let completed = 3;
    const metrics = new Metrics(() => ({ ...counts, completed }));
    await metrics.text();
    completed = 10;
    const text = await metrics.text();
    expect(text).toContain('tessera_engine_outcomes_total{outcome="completed"} 10');
    expect(text).toContain('tessera_engine_requests{state="running"} 2');
    expect(text).toContain('tessera_engine_forward_passes_total 9');
  });

  it('counts an answered recall by edge, code and stage', async () => {
    const metrics = new Metrics(() => counts);
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
