import { JsonSchemas } from "./json-schemas.js";
import { MessagePlans } from "./message-plan.js";
import { JsonReader } from "./read-json.js";
import { JsonWriter } from "./write-json.js";
/** Requests and answers of rpcs as JSON; rpcs are named `package.Service.Method`. */ export class HttpJson {
    plans;
    reader;
    writer;
    constructor(schema, form){
        this.plans = new MessagePlans(schema, form);
        this.reader = new JsonReader(this.plans);
        this.writer = new JsonWriter(this.plans);
    }
    /** @throws TesseraError REQUEST_INVALID with the path of the field */ readRequest(rpc, json) {
        return this.reader.read(this.plans.rpc(rpc).request, json);
    }
    writeResponse(rpc, message) {
        return this.writer.write(this.plans.rpc(rpc).response, message);
    }
    /** Schemas of the requests and answers of these rpcs, and of all that they consist of. */ schemas(rpcs) {
        const all = new JsonSchemas(this.plans);
        const types = rpcs.map((rpc)=>this.plans.rpc(rpc));
        const requests = types.map(({ request })=>all.add(request, 'requests'));
        const responses = types.map(({ response })=>all.add(response, 'answers'));
        const named = types.map(({ comment }, index)=>({
                request: requests[index] ?? '',
                response: responses[index] ?? '',
                summary: comment.replaceAll('\n', ' ').replace(/[.:](\s.*)?$/, '')
            }));
        return {
            schemas: all.schemas,
            rpcs: named
        };
    }
}

//# sourceMappingURL=http-json.js.map