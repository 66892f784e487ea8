/** Schemas of JSON in the OpenAPI document, for bodies that no message describes. */ /** An object with no other members than these. */ export const objectSchema = (properties, required = [])=>Object.assign(openSchema(properties, required), {
        additionalProperties: false
    });
/** An object that may have other members too. */ export const openSchema = (properties, required = [])=>Object.assign({
        type: 'object',
        properties
    }, required.length > 0 && {
        required
    });
/**
 * A body of other services' clients: further members are let by or refused by their names, and
 * null is an absent one.
 */ export function foreignSchema(properties, required) {
    const orNull = (schema)=>{
        if (!('type' in schema)) return schema;
        const { enum: words } = schema;
        const more = words === undefined ? {} : {
            enum: [
                ...words,
                null
            ]
        };
        return Object.assign({}, schema, {
            nullable: true
        }, more);
    };
    const entries = Object.entries(properties).map(([name, schema])=>[
            name,
            required.includes(name) ? schema : orNull(schema)
        ]);
    return openSchema(Object.fromEntries(entries), required);
}
export const textSchema = (description)=>({
        type: 'string',
        description
    });
export const countSchema = (description)=>({
        type: 'integer',
        description
    });
export const listSchema = (items)=>({
        type: 'array',
        items
    });
export const wordSchema = (...words)=>({
        type: 'string',
        enum: words
    });
/** @param json content of a schema's name */ export function postPaths(routes, json, failures) {
    return Object.fromEntries(routes.map(({ path, request, response, operationId, summary })=>{
        const answered = {
            200: {
                description: summary,
                content: json(response)
            }
        };
        const requestBody = {
            required: true,
            content: json(request)
        };
        const responses = Object.assign(answered, failures);
        return [
            path,
            {
                post: {
                    operationId,
                    summary,
                    requestBody,
                    responses
                }
            }
        ];
    }));
}

//# sourceMappingURL=json-schemas.js.map