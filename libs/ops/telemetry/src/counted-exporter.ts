import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

/** An exporter that knows how its exports went. */
export class CountedExporter implements SpanExporter {
  sent = 0;
  failed = 0;
  /** Why the last export failed; '' where it did not. */
  reason = '';

  constructor(private readonly exporter: SpanExporter) {}

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      const isSent = result.code === ExportResultCode.SUCCESS;
      if (isSent) this.sent += spans.length;
      else this.failed += spans.length;
      this.reason = isSent ? '' : (result.error?.message ?? 'no answer');
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }
}
