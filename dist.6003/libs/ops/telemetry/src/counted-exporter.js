import { ExportResultCode } from "@opentelemetry/core";
/** An exporter that knows how its exports went. */ export class CountedExporter {
    exporter;
    sent = 0;
    failed = 0;
    /** Why the last export failed; '' where it did not. */ reason = '';
    constructor(exporter){
        this.exporter = exporter;
    }
    export(spans, done) {
        this.exporter.export(spans, (result)=>{
            const isSent = result.code === ExportResultCode.SUCCESS;
            if (isSent) this.sent += spans.length;
            else this.failed += spans.length;
            this.reason = isSent ? '' : result.error?.message ?? 'no answer';
            done(result);
        });
    }
    shutdown() {
        return this.exporter.shutdown();
    }
    async forceFlush() {
        await this.exporter.forceFlush?.();
    }
}

//# sourceMappingURL=counted-exporter.js.map