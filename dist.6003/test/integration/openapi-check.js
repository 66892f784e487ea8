import { parseJsonBody } from "../../libs/edge/hosting/src/index.js";
import { OR_INTEGER } from "../../libs/edge/httpjson/src/index.js";
import { Ajv } from "ajv";
import { consoleDocument, openApiDocument } from "../../apps/standalone/src/openapi.js";
/** Both documents as one: a process serves all. */ function joined(first, second) {
    return {
        paths: {
            ...first.paths,
            ...second.paths
        },
        components: {
            schemas: {
                ...first.components.schemas,
                ...second.components.schemas
            }
        }
    };
}
/** The document as the service takes IDs: as integers too. */ function withIntegers(document) {
    const forms = [
        {
            type: 'string'
        },
        {
            type: 'integer'
        }
    ];
    return JSON.parse(JSON.stringify(document), (_, value)=>value?.[OR_INTEGER] === true ? {
            anyOf: forms
        } : value);
}
/** The same for bodies, by the JSON mapping of proto3: numbers as text, lists as messages. */ function asTaken(document) {
    const more = {
        integer: {
            type: 'string',
            pattern: '^-?\\d'
        },
        number: {
            type: 'string',
            pattern: '^-?\\d'
        },
        array: {
            type: 'object'
        }
    };
    return JSON.parse(JSON.stringify(document), (_, value)=>{
        const other = more[value?.type];
        return other === undefined ? value : {
            anyOf: [
                value,
                other
            ]
        };
    });
}
/** Compares what goes over HTTP with the OpenAPI documents. */ export class OpenApiCheck {
    document = withIntegers(joined(openApiDocument('1'), consoleDocument('1')));
    ajv = new Ajv({
        strict: false,
        allErrors: true
    });
    compiled = {
        document: new Map(),
        taken: new Map()
    };
    constructor(){
        this.ajv.addSchema(this.document, 'document');
        this.ajv.addSchema(asTaken(this.document), 'taken');
    }
    /** Ahead of the tests: it takes the thread for longer than some of their deadlines. */ compileAll() {
        for (const { responses, requestBody } of this.operations()){
            const asked = jsonOf(requestBody);
            if (asked !== undefined) this.validatorOf(asked, 'taken');
            for (const schema of Object.values(responses).map(jsonOf)){
                if (schema !== undefined) this.validatorOf(schema, 'document');
            }
        }
    }
    operations() {
        return Object.values(this.document.paths).flatMap((described)=>Object.values(described));
    }
    /** Of a path with values in the places of its parameters; undefined: none is described. */ operation(method, path) {
        const described = Object.keys(this.document.paths).find((template)=>new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
        if (described === undefined) return undefined;
        return this.document.paths[described]?.[method.toLowerCase()];
    }
    /** The fault of a value, in words; '' where there is none. */ faults(schema, value, document = 'document') {
        const validate = this.validatorOf(schema, document);
        if (validate(value)) return '';
        const strangers = (validate.errors ?? []).flatMap(({ params })=>params.additionalProperty ?? []);
        return [
            this.ajv.errorsText(validate.errors),
            ...strangers
        ].join(', ');
    }
    validatorOf(schema, document) {
        const known = this.compiled[document].get(schema);
        if (known !== undefined) return known;
        const made = this.ajv.compile(inDocument(schema, document));
        this.compiled[document].set(schema, made);
        return made;
    }
    /** @throws Error where an answer, or a body that was taken, is not as the document says */ async exchange({ method, url, body, reply }) {
        const { pathname } = new URL(url);
        const operation = this.operation(method, pathname);
        const answered = jsonOf(operation?.responses[reply.status]);
        if (answered !== undefined) {
            const faults = this.faults(answered, await reply.clone().json());
            if (faults !== '') throw new Error(`${method} ${pathname} answers ${reply.status}: ${faults}`);
        }
        const asked = jsonOf(operation?.requestBody);
        if (asked !== undefined && reply.status === 200 && typeof body === 'string') {
            const taken = await parseJsonBody(Buffer.from(body));
            const faults = this.faults(asked, taken ?? {}, 'taken');
            if (faults !== '') throw new Error(`${method} ${pathname} takes ${body}: ${faults}`);
        }
    }
}
function jsonOf(content) {
    return content?.content?.['application/json']?.schema;
}
/** References of a schema as seen from outside the document. */ function inDocument(value, document) {
    if (Array.isArray(value)) return value.map((one)=>inDocument(one, document));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member])=>[
            key,
            key === '$ref' && typeof member === 'string' ? document + member : inDocument(member, document)
        ]));
}

//# sourceMappingURL=openapi-check.js.map