/** Bodies by the schemas of the OpenAPI document, with hostile values, to every path over HTTP. */

import { OpenApiCheck } from '../integration/openapi-check.js';
import type { HostileValues } from './hostile-values.js';

const DEPTH_MAX = 6;
const DEEP = 5000;

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

interface Target extends Operation {
  readonly method: string;
  readonly path: string;
}

/** Causes of an error that fetch gives as `fetch failed`. */
function causes(thrown: unknown): string {
  const said: string[] = [];
  for (let one = thrown; one instanceof Error; one = one.cause) {
    const { code } = one as NodeJS.ErrnoException;
    said.push(code === undefined ? one.message : `${one.message} (${code})`);
  }
  return said.join(': ');
}

export class HttpFuzz {
  private readonly check = new OpenApiCheck();
  private readonly targets: readonly Target[];
  private readonly schemas: Readonly<Record<string, Schema>>;

  constructor(
    private readonly url: string,
    private readonly values: HostileValues,
  ) {
    this.check.compileAll();
    const { paths, components } = this.check.document;
    this.schemas = (components as { schemas: Record<string, Schema> }).schemas;
    this.targets = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...(operation as object as Operation),
        method: method.toUpperCase(),
        path,
      })),
    );
  }

  /** Sends one; the fault in words where it was taken wrongly, or not refused by a code. */
  async send(): Promise<string | undefined> {
    const target = this.values.one(this.targets);
    const url = `${this.url}${this.filled(target)}`;
    const body = this.body(target);
    const init = {
      method: target.method,
      ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
    };
    const asked = `${target.method} ${target.path} ${body?.slice(0, 400) ?? ''}`;
    let reply: Response;
    try {
      reply = await fetch(url, init);
    } catch (thrown) {
      return `${asked}: no answer: ${causes(thrown)}`;
    }
    try {
      if (reply.status >= 500) {
        const said = await reply.clone().text();
        if (!/"code":"(?!INTERNAL)/.test(said))
          return `${asked}: ${reply.status} ${said.slice(0, 200)}`;
      }
      await this.check.exchange({ method: target.method, url, body, reply });
    } catch (thrown) {
      return `${asked}: ${(thrown as Error).message.slice(0, 400)}`;
    } finally {
      await reply.arrayBuffer();
    }
    return undefined;
  }

  private filled({ path, parameters = [] }: Target): string {
    const text = () => encodeURIComponent(this.values.text().toWellFormed());
    const query = parameters
      .filter((one) => one.in === 'query' && this.values.chance(2))
      .map(({ name }) => `${name}=${text()}`);
    const place = path.replaceAll(/\{\w+\}/g, () => text() || 'x');
    return query.length === 0 ? place : `${place}?${query.join('&')}`;
  }

  private body({ requestBody }: Target): string | undefined {
    const schema = requestBody?.content['application/json']?.schema;
    if (schema === undefined) return undefined;
    const { values } = this;
    if (values.chance(60)) return '['.repeat(DEEP) + ']'.repeat(DEEP);
    const text = JSON.stringify(this.value(schema, 0)) ?? 'null';
    if (!values.chance(12)) return text;
    return values.damaged(Buffer.from(text)).toString('utf8');
  }

  private value(schema: Schema, depth: number): unknown {
    const { values } = this;
    if (depth > DEPTH_MAX || values.chance(25)) return this.anything();
    if (schema.$ref !== undefined) {
      const found = this.schemas[schema.$ref.split('/').at(-1) ?? ''];
      return found === undefined ? this.anything() : this.value(found, depth);
    }
    const forms = schema.oneOf ?? schema.anyOf;
    if (forms !== undefined) return this.value(values.one(forms), depth);
    if (schema.enum !== undefined) return values.one(schema.enum);
    switch (schema.type) {
      case 'string':
        return values.text();
      case 'integer':
        return values.chance(5) ? values.number() : values.below(12);
      case 'number':
        return values.number();
      case 'boolean':
        return values.chance(2);
      case 'array':
        return Array.from({ length: values.count() }, () =>
          this.value(schema.items ?? {}, depth + 1),
        );
      case 'object':
        return this.object(schema, depth);
      default:
        return this.anything();
    }
  }

  private object({ properties = {}, additionalProperties }: Schema, depth: number): object {
    const { values } = this;
    const named = Object.entries(properties).filter(() => values.chance(3));
    const made = named.map(([name, schema]) => [name, this.value(schema, depth + 1)]);
    const others = typeof additionalProperties === 'object' ? values.below(3) : 0;
    for (let left = others; left > 0; left -= 1) {
      made.push([values.text(), this.value(additionalProperties as Schema, depth + 1)]);
    }
    if (values.chance(30)) made.push([values.text(), this.anything()]);
    return Object.fromEntries(made);
  }

  private anything(): unknown {
    const { values } = this;
    return values.one([null, true, values.number(), values.text(), [], {}, [[{}]], { a: [null] }]);
  }
}
