import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

/** Takes spans over OTLP/HTTP and keeps them. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  private readonly server: Server = createServer(async (request, reply) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    for (const { resource, scopeSpans } of body.resourceSpans) {
      const named = resource.attributes.find(({ key }: { key: string }) => key === 'service.name');
      for (const { spans } of scopeSpans) {
        for (const span of spans) {
          this.spans.push({ ...span, service: named?.value.stringValue ?? '' });
        }
      }
    }
    reply.end('{}');
  });

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1/traces`;
  }

  stop(): void {
    this.server.close();
  }
}
