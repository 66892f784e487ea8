import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Log } from './logger.js';
import { openTracing } from './open-tracing.js';
import { NO_TRACING, type Tracing, type TracingOptions } from './tracing.js';

interface Received {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

/** A collector that keeps the spans it is sent. */
class Collector {
  readonly spans: Received[] = [];
  readonly paths: (string | undefined)[] = [];
  resource: Received['attributes'] = [];
  url = '';
  private readonly server: Server;

  constructor() {
    this.server = createServer(async (request, reply) => {
      const chunks = await request.toArray();
      const body = JSON.parse(Buffer.concat(chunks).toString());
      this.paths.push(request.url);
      for (const resource of body.resourceSpans) {
        this.resource = resource.resource.attributes;
        for (const scope of resource.scopeSpans) this.spans.push(...scope.spans);
      }
      reply.end('{}');
    });
  }

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const { port } = this.server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}/v1/traces`;
    return this.url;
  }

  span(name: string): Received {
    const found = this.spans.find((span) => span.name === name);
    if (found === undefined) throw new Error(`no span ${name}`);
    return found;
  }

  stop(): void {
    this.server.close();
  }
}

const CALLER = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
const micros = (nanos: string) => Number(BigInt(nanos) / 1000n);
let warned = 0;
const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => {
    warned += 1;
  },
  error: () => undefined,
};
let collector: Collector;
let tracing: Tracing;

const SERVICE = { serviceName: 'tessera', serviceVersion: '1' };

async function open(change: Partial<TracingOptions> = {}): Promise<void> {
  collector = new Collector();
  const otlpUrl = await collector.start();
  const options = { otlpUrl, percent: 100, sampler: 'parentbased_traceidratio' } as const;
  tracing = await openTracing(Object.assign({}, options, SERVICE, change), log);
}

afterEach(async () => {
  await tracing.close();
  collector?.stop();
});

describe('traces', () => {
  it("continues the caller's trace and lays out what happened inside", async () => {
    await open();
    const traceId = await tracing.serve('recall', CALLER, async (span) => {
      span.set({ edge: 'grpc' });
      span.tell(() => [
        { name: 'features', startUs: 0, endUs: 2000 },
        { name: 'kv.prefetch', startUs: 0, endUs: 3000 },
        {
          name: 'engine',
          startUs: 2000,
          endUs: 9000,
          children: [{ name: 'prefill', startUs: 1000, endUs: 4000 }],
        },
      ]);
      return span.traceId;
    });
    await tracing.close();
    expect(traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    const root = collector.span('recall');
    expect(root).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331' });
    expect(root.attributes).toContainEqual({ key: 'edge', value: { stringValue: 'grpc' } });
    const start = micros(root.startTimeUnixNano);
    for (const [name, parent, from, to] of [
      ['features', 'recall', 0, 2000],
      ['kv.prefetch', 'recall', 0, 3000],
      ['engine', 'recall', 2000, 9000],
      ['prefill', 'engine', 3000, 6000],
    ] as const) {
      const span = collector.span(name);
      expect(span.parentSpanId).toBe(collector.span(parent).spanId);
      expect(Math.abs(micros(span.startTimeUnixNano) - start - from)).toBeLessThanOrEqual(2);
      expect(Math.abs(micros(span.endTimeUnixNano) - start - to)).toBeLessThanOrEqual(2);
    }
  });

  it('hands the trace on to calls that are made inside, also after a wait', async () => {
    await open();
    const outgoing = await tracing.serve('recall', CALLER, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return tracing.outgoing();
    });
    expect(outgoing.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    expect(tracing.outgoing()).toEqual({});
  });

  it('tells the code of what failed, and fails as it did', async () => {
    await open();
    const failing = tracing.serve('recall', {}, async () => {
      throw Object.assign(new Error('no such user'), { code: 'USER_NOT_FOUND' });
    });
    await expect(failing).rejects.toThrow('no such user');
    await tracing.close();
    const { status, attributes } = collector.span('recall');
    expect(status.code).toBe(2);
    const code = { key: 'tessera.code', value: { stringValue: 'USER_NOT_FOUND' } };
    const type = { key: 'error.type', value: code.value };
    expect(attributes).toEqual(expect.arrayContaining([code, type]));
  });

  it('keeps what the caller keeps, and of its own the share that is configured', async () => {
    await open({ percent: 0 });
    const counts = { asked: 0 };
    const happened = () => {
      counts.asked += 1;
      return [];
    };
    const own = await tracing.serve('own', {}, async (span) => {
      span.tell(happened);
      return span.traceId;
    });
    await tracing.serve('asked', CALLER, async (span) => span.tell(happened));
    await tracing.close();
    expect(own).toBe('');
    expect(counts.asked).toBe(1);
    expect(collector.spans.map((span) => span.name)).toEqual(['asked']);
  });

  it('costs a request nothing where no collector is named or none answers', async () => {
    tracing = NO_TRACING;
    expect(await tracing.serve('recall', CALLER, async (span) => span.traceId)).toBe('');
    expect(tracing.outgoing()).toEqual({});
    await open({ otlpUrl: 'http://127.0.0.1:1/v1/traces' });
    expect(await tracing.serve('recall', {}, async () => 7)).toBe(7);
    await tracing.close();
    expect(warned).toBeGreaterThan(0);
    expect(tracing.reach()).toMatchObject({ state: 'down', reason: expect.stringMatching(/./) });
    expect(tracing.counts()).toEqual({ sent: 0, failed: 1 });
  });

  it('go to the path that collectors have, where the address has none', async () => {
    await open();
    const { port } = new URL(collector.url);
    await tracing.close();
    await openTracing(
      { otlpUrl: `http://127.0.0.1:${port}`, percent: 100, sampler: 'always_on', ...SERVICE },
      log,
    ).then(async (own) => {
      await own.serve('bare', {}, async () => undefined);
      await own.close();
      expect(own.counts()).toEqual({ sent: 1, failed: 0 });
      expect(own.reach().state).toBe('ok');
    });
    expect(collector.paths).toEqual(['/v1/traces']);
    const nowhere = { percent: 100, sampler: 'always_on', ...SERVICE } as const;
    for (const otlpUrl of ['collector:4318', 'ftp://collector']) {
      await expect(openTracing({ otlpUrl, ...nowhere }, log)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        field: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      });
    }
  });

  it('name the service and its resource as the variables of OpenTelemetry do', async () => {
    process.env.OTEL_SERVICE_NAME = 'recall-eu';
    process.env.OTEL_RESOURCE_ATTRIBUTES = 'deployment.environment.name=prod';
    await open();
    await tracing.serve('recall', {}, async () => undefined);
    await tracing.close();
    delete process.env.OTEL_SERVICE_NAME;
    delete process.env.OTEL_RESOURCE_ATTRIBUTES;
    const attribute = (key: string) => collector.resource.find((one) => one.key === key)?.value;
    expect(attribute('service.name')).toEqual({ stringValue: 'recall-eu' });
    expect(attribute('deployment.environment.name')).toEqual({ stringValue: 'prod' });
    expect(attribute('service.version')).toEqual({ stringValue: '1' });
  });

  it('are not kept for a caller alone where the sampler does not ask callers', async () => {
    await open({ percent: 0, sampler: 'traceidratio' });
    expect(await tracing.serve('asked', CALLER, async (span) => span.traceId)).toBe('');
  });
});
