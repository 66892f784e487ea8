/** The bodies and answers of http/embedding-body.ts in the OpenAPI document. */ import { countSchema as count, foreignSchema as foreign, listSchema as list, objectSchema as object, textSchema as text, wordSchema as word } from "./json-schemas.js";
const TEXTS = {
    oneOf: [
        {
            type: 'string'
        },
        list({
            type: 'string'
        })
    ]
};
const NUMBERS = list({
    type: 'number'
});
const model = text('of embedding.models; empty: the first');
const promptName = text("of the model's prompts; left out: its default");
const failures = word('whole', 'each');
const FAILURES = list(object({
    index: count('in the request'),
    code: text(''),
    message: text('')
}, [
    'index',
    'code',
    'message'
]));
const dimensions = {
    ...count('first numbers of each vector'),
    minimum: 1
};
export const EMBEDDING_SCHEMAS = {
    EmbeddingsRequest: foreign({
        input: TEXTS,
        model,
        dimensions,
        encoding_format: word('float', 'base64'),
        prompt_name: promptName,
        input_type: promptName,
        task: promptName,
        failures
    }, [
        'input'
    ]),
    EmbeddingsResponse: object({
        object: word('list'),
        model: text('its name'),
        data: list(object({
            object: word('embedding'),
            index: count('in the request'),
            embedding: {
                oneOf: [
                    NUMBERS,
                    text('base64 of little-endian F32')
                ]
            }
        }, [
            'object',
            'index',
            'embedding'
        ])),
        usage: object({
            prompt_tokens: count('of all texts'),
            total_tokens: count('of all texts')
        }, [
            'prompt_tokens',
            'total_tokens'
        ]),
        failures: FAILURES
    }, [
        'object',
        'model',
        'data',
        'usage'
    ]),
    TeiEmbedRequest: foreign({
        inputs: TEXTS,
        model,
        dimensions,
        prompt_name: promptName,
        failures,
        normalize: {
            type: 'boolean',
            description: 'true where it is left out'
        },
        truncate: {
            type: 'boolean',
            enum: [
                true
            ]
        }
    }, [
        'inputs'
    ]),
    TeiEmbedResponse: list({
        ...NUMBERS,
        nullable: true
    })
};
const summary = 'Vectors of texts, in their order';
export const EMBEDDING_ROUTES = [
    {
        path: '/v1/embeddings',
        request: 'EmbeddingsRequest',
        response: 'EmbeddingsResponse',
        operationId: 'embeddings',
        summary
    },
    {
        path: '/embed',
        request: 'TeiEmbedRequest',
        response: 'TeiEmbedResponse',
        operationId: 'embed-tei',
        summary
    },
    {
        path: '/',
        request: 'TeiEmbedRequest',
        response: 'TeiEmbedResponse',
        operationId: 'embed-root',
        summary: "The same as /embed, where huggingface_hub's clients ask"
    }
];

//# sourceMappingURL=embedding-schemas.js.map