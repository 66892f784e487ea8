import { once } from "node:events";
import { createServer } from "node:http";
/** Takes spans over OTLP/HTTP and keeps them. */ export class Collector {
    spans = [];
    server = createServer(async (request, reply)=>{
        const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
        for (const { resource, scopeSpans } of body.resourceSpans){
            const named = resource.attributes.find(({ key })=>key === 'service.name');
            for (const { spans } of scopeSpans){
                for (const span of spans){
                    this.spans.push({
                        ...span,
                        service: named?.value.stringValue ?? ''
                    });
                }
            }
        }
        reply.end('{}');
    });
    async start() {
        this.server.listen(0, '127.0.0.1');
        await once(this.server, 'listening');
        return `http://127.0.0.1:${this.server.address().port}/v1/traces`;
    }
    stop() {
        this.server.close();
    }
}

//# sourceMappingURL=collector.js.map