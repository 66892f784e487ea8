import { JsonSchemas } from './json-schemas.js';
import { type JsonForm, MessagePlans } from './message-plan.js';
import { JsonReader } from './read-json.js';
import { JsonWriter } from './write-json.js';

/** An operation of an rpc, with the names of its schemas. */
export interface RpcSchemas {
  readonly request: string;
  readonly response: string;
  /** First sentence of the comment of the rpc. */
  readonly summary: string;
}

/** Requests and answers of rpcs as JSON; rpcs are named `package.Service.Method`. */
export class HttpJson {
  private readonly plans: MessagePlans;
  private readonly reader: JsonReader;
  private readonly writer: JsonWriter;

  constructor(schema: object, form: JsonForm) {
    this.plans = new MessagePlans(schema, form);
    this.reader = new JsonReader(this.plans);
    this.writer = new JsonWriter(this.plans);
  }

  /** @throws TesseraError REQUEST_INVALID with the path of the field */
  readRequest<Request>(rpc: string, json: unknown): Request {
    return this.reader.read(this.plans.rpc(rpc).request, json) as Request;
  }

  writeResponse(rpc: string, message: object): object {
    return this.writer.write(this.plans.rpc(rpc).response, message);
  }

  /** Schemas of the requests and answers of these rpcs, and of all that they consist of. */
  schemas(rpcs: readonly string[]): {
    readonly schemas: Readonly<Record<string, object>>;
    readonly rpcs: readonly RpcSchemas[];
  } {
    const all = new JsonSchemas(this.plans);
    const types = rpcs.map((rpc) => this.plans.rpc(rpc));
    const requests = types.map(({ request }) => all.add(request, 'requests'));
    const responses = types.map(({ response }) => all.add(response, 'answers'));
    const named = types.map(({ comment }, index) => ({
      request: requests[index] ?? '',
      response: responses[index] ?? '',
      summary: comment.replaceAll('\n', ' ').replace(/[.:](\s.*)?$/, ''),
    }));
    return { schemas: all.schemas, rpcs: named };
  }
}
