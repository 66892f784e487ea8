/** Messages -> schemas of an OpenAPI document. */ /** Extension of OpenAPI: the text may be an integer up to 2^53. */ export const OR_INTEGER = 'x-or-integer';
/**
 * An integer is taken as well, which the types of generated clients need not know: a wrapper of two
 * types stands between their users and a plain text.
 */ const ID = {
    type: 'string',
    [OR_INTEGER]: true
};
/** Field names in comments of proto files, as JSON has them. */ function described(comment) {
    if (comment === '') return {};
    const inCamelCase = (name)=>name.replace(/_(\w)/g, (_, c)=>c.toUpperCase());
    return {
        description: comment.replace(/`[\w.]+`/g, inCamelCase).replaceAll('\n', ' ')
    };
}
/**
 * Schemas of messages and of all that they consist of, by the name in the document. A message that
 * requests and answers share has the schema of requests.
 */ export class JsonSchemas {
    plans;
    schemas = {};
    constructor(plans){
        this.plans = plans;
    }
    /** Requests come before answers. */ add(type, of) {
        const name = this.nameOf(type);
        if (this.schemas[name] !== undefined) return name;
        const { fields, bare } = this.plans.of(type);
        this.schemas[name] = {};
        const properties = {};
        for (const field of fields.values())properties[field.name] = this.field(field, of);
        const required = [
            ...fields.values()
        ].filter(({ isRequired, isAnswered })=>of === 'requests' ? isRequired : isAnswered);
        const object = {
            type: 'object',
            ...described(type.comment ?? ''),
            additionalProperties: false,
            properties,
            ...required.length > 0 && {
                required: required.map((field)=>field.name)
            }
        };
        this.schemas[name] = bare === undefined ? object : {
            oneOf: [
                ID,
                object
            ]
        };
        return name;
    }
    nameOf(type) {
        const prefix = this.plans.form.prefixes[type.parent?.fullName.slice(1) ?? ''] ?? '';
        return type.name.startsWith(prefix) ? type.name : prefix + type.name;
    }
    field(field, of) {
        const one = this.one(field, of);
        const about = described(field.comment);
        if (field.isMap) return {
            type: 'object',
            ...about,
            additionalProperties: one
        };
        if (field.isList) return {
            type: 'array',
            ...about,
            items: one
        };
        // OpenAPI 3.0 ignores what stands beside a reference.
        return '$ref' in one && field.comment !== '' ? {
            allOf: [
                one
            ],
            ...about
        } : {
            ...one,
            ...about
        };
    }
    one(field, of) {
        switch(field.kind){
            case 'text':
                return {
                    type: 'string'
                };
            case 'id':
                return of === 'requests' ? ID : {
                    type: 'string'
                };
            case 'flag':
                return {
                    type: 'boolean'
                };
            case 'integer':
                return {
                    type: 'integer',
                    minimum: field.isPositive && of === 'requests' ? 1 : 0
                };
            case 'number':
                return {
                    type: 'number'
                };
            case 'word':
                return {
                    type: 'string',
                    enum: Object.keys(field.words)
                };
            case 'verbatim':
                return {
                    type: 'object'
                };
            case 'message':
                return {
                    $ref: `#/components/schemas/${this.add(field.message, of)}`
                };
        }
    }
}

//# sourceMappingURL=json-schemas.js.map