import { Counter, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { TalliedCounter, TalliedHistogram } from './tallies.js';

const named = { name: 'tessera_test', meaning: 'a test' };
const theirs = (registers: Registry[]) => ({ name: named.name, help: named.meaning, registers });

describe('tallies', () => {
  it('are scraped as the histograms of prom-client are', async () => {
    const [own, other] = [new Registry(), new Registry()];
    const buckets = [0.001, 0.01, 0.1];
    const tallied = new TalliedHistogram(own, named, ['stage'], buckets);
    const histogram = new Histogram({ ...theirs([other]), labelNames: ['stage'], buckets });
    for (const [stage, seconds] of [
      ['prefill', 0.001],
      ['prefill', 0.0011],
      ['head', 5],
      ['prefill', 0.1],
      ['head', 0],
    ] as const) {
      tallied.observe(seconds, stage);
      histogram.observe({ stage }, seconds);
    }
    expect(await own.metrics()).toBe(await other.metrics());
  });

  it('are scraped as the counters of prom-client are, as often as wanted', async () => {
    const [own, other] = [new Registry(), new Registry()];
    const tallied = new TalliedCounter(own, named, ['edge', 'code'], []);
    const counter = new Counter({ ...theirs([other]), labelNames: ['edge', 'code'] });
    for (const [edge, code] of [
      ['grpc', 'OK'],
      ['http', 'OK'],
      ['grpc', 'INTERNAL'],
      ['grpc', 'OK'],
    ] as const) {
      tallied.count(edge, code);
      counter.inc({ edge, code });
      const lines = (text: string) => text.trim().split('\n').sort();
      expect(lines(await own.metrics())).toEqual(lines(await other.metrics()));
    }
  });
});
