/** Bodies by the schemas of the OpenAPI document, with hostile values, to every path over HTTP. */ import { OpenApiCheck } from "../integration/openapi-check.js";
const DEPTH_MAX = 6;
const DEEP = 5000;
/** Causes of an error that fetch gives as `fetch failed`. */ function causes(thrown) {
    const said = [];
    for(let one = thrown; one instanceof Error; one = one.cause){
        const { code } = one;
        said.push(code === undefined ? one.message : `${one.message} (${code})`);
    }
    return said.join(': ');
}
export class HttpFuzz {
    url;
    values;
    check = new OpenApiCheck();
    targets;
    schemas;
    constructor(url, values){
        this.url = url;
        this.values = values;
        this.check.compileAll();
        const { paths, components } = this.check.document;
        this.schemas = components.schemas;
        this.targets = Object.entries(paths).flatMap(([path, methods])=>Object.entries(methods).map(([method, operation])=>({
                    ...operation,
                    method: method.toUpperCase(),
                    path
                })));
    }
    /** Sends one; the fault in words where it was taken wrongly, or not refused by a code. */ async send() {
        const target = this.values.one(this.targets);
        const url = `${this.url}${this.filled(target)}`;
        const body = this.body(target);
        const init = {
            method: target.method,
            ...body === undefined ? {} : {
                body,
                headers: {
                    'content-type': 'application/json'
                }
            }
        };
        const asked = `${target.method} ${target.path} ${body?.slice(0, 400) ?? ''}`;
        let reply;
        try {
            reply = await fetch(url, init);
        } catch (thrown) {
            return `${asked}: no answer: ${causes(thrown)}`;
        }
        try {
            if (reply.status >= 500) {
                const said = await reply.clone().text();
                if (!/"code":"(?!INTERNAL)/.test(said)) return `${asked}: ${reply.status} ${said.slice(0, 200)}`;
            }
            await this.check.exchange({
                method: target.method,
                url,
                body,
                reply
            });
        } catch (thrown) {
            return `${asked}: ${thrown.message.slice(0, 400)}`;
        } finally{
            await reply.arrayBuffer();
        }
        return undefined;
    }
    filled({ path, parameters = [] }) {
        const text = ()=>encodeURIComponent(this.values.text().toWellFormed());
        const query = parameters.filter((one)=>one.in === 'query' && this.values.chance(2)).map(({ name })=>`${name}=${text()}`);
        const place = path.replaceAll(/\{\w+\}/g, ()=>text() || 'x');
        return query.length === 0 ? place : `${place}?${query.join('&')}`;
    }
    body({ requestBody }) {
        const schema = requestBody?.content['application/json']?.schema;
        if (schema === undefined) return undefined;
        const { values } = this;
        if (values.chance(60)) return '['.repeat(DEEP) + ']'.repeat(DEEP);
        const text = JSON.stringify(this.value(schema, 0)) ?? 'null';
        if (!values.chance(12)) return text;
        return values.damaged(Buffer.from(text)).toString('utf8');
    }
    value(schema, depth) {
        const { values } = this;
        if (depth > DEPTH_MAX || values.chance(25)) return this.anything();
        if (schema.$ref !== undefined) {
            const found = this.schemas[schema.$ref.split('/').at(-1) ?? ''];
            return found === undefined ? this.anything() : this.value(found, depth);
        }
        const forms = schema.oneOf ?? schema.anyOf;
        if (forms !== undefined) return this.value(values.one(forms), depth);
        if (schema.enum !== undefined) return values.one(schema.enum);
        switch(schema.type){
            case 'string':
                return values.text();
            case 'integer':
                return values.chance(5) ? values.number() : values.random.below(12);
            case 'number':
                return values.number();
            case 'boolean':
                return values.chance(2);
            case 'array':
                return Array.from({
                    length: values.count()
                }, ()=>this.value(schema.items ?? {}, depth + 1));
            case 'object':
                return this.object(schema, depth);
            default:
                return this.anything();
        }
    }
    object({ properties = {}, additionalProperties }, depth) {
        const { values } = this;
        const named = Object.entries(properties).filter(()=>values.chance(3));
        const made = named.map(([name, schema])=>[
                name,
                this.value(schema, depth + 1)
            ]);
        const others = typeof additionalProperties === 'object' ? values.random.below(3) : 0;
        for(let left = others; left > 0; left -= 1){
            made.push([
                values.text(),
                this.value(additionalProperties, depth + 1)
            ]);
        }
        if (values.chance(30)) made.push([
            values.text(),
            this.anything()
        ]);
        return Object.fromEntries(made);
    }
    anything() {
        const { values } = this;
        return values.one([
            null,
            true,
            values.number(),
            values.text(),
            [],
            {},
            [
                [
                    {}
                ]
            ],
            {
                a: [
                    null
                ]
            }
        ]);
    }
}

//# sourceMappingURL=http-fuzz.js.map