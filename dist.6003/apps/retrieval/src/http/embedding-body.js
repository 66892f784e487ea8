/**
 * Bodies of other services' clients, field by field. Every field is read, cannot change a vector,
 * or is refused by its name.
 */ import { invalid } from "../../../../libs/edge/grpc/src/index.js";
import { numberIn } from "../../../../libs/edge/httpjson/src/index.js";
import { flagOf, membersOf, NO_EFFECT, wordOf } from "../wire/body-fields.js";
export const EMBEDDINGS = {
    textsAt: 'input',
    promptAt: [
        'prompt_name',
        'input_type',
        'task'
    ]
};
export const EMBED = {
    textsAt: 'inputs',
    promptAt: [
        'prompt_name'
    ]
};
const OUR_KEYS = [
    'model',
    'dimensions',
    'prompt_name',
    'failures'
];
const DIRECTIONS = [
    'Right',
    'right'
];
const CUT_RIGHT = 'none: a text that is too long loses its last tokens';
const ONLY_FLOATS = [
    'float'
];
const EMBEDDINGS_KEYS = [
    ...OUR_KEYS,
    'input',
    'encoding_format',
    'input_type',
    'task'
];
/** Of OpenAI, vLLM, Jina, Voyage, Cohere and LiteLLM. */ const EMBEDDINGS_FOREIGN = {
    user: NO_EFFECT,
    metadata: NO_EFFECT,
    request_id: NO_EFFECT,
    priority: NO_EFFECT,
    safety_identifier: NO_EFFECT,
    normalized: [
        true
    ],
    embedding_type: ONLY_FLOATS,
    output_dtype: ONLY_FLOATS,
    truncation: [
        true
    ],
    truncate: [
        true,
        'END'
    ],
    late_chunking: [
        false
    ],
    add_special_tokens: [
        true
    ],
    truncation_direction: DIRECTIONS,
    truncate_prompt_tokens: CUT_RIGHT,
    output_dimension: 'none: dimensions says how many numbers a vector has'
};
const EMBED_KEYS = [
    ...OUR_KEYS,
    'inputs',
    'normalize',
    'truncate'
];
/** Of text-embeddings-inference and huggingface_hub. */ const EMBED_FOREIGN = {
    user: NO_EFFECT,
    truncation_direction: DIRECTIONS,
    parameters: 'none: normalize, truncate and prompt_name stand beside inputs',
    prompt: 'none: prompt_name names a prompt of the model, or put it before the texts'
};
/** Clients with a tokenizer of their own send its numbers, which mean other texts here. */ const SENDS_TOKENS = 'a text (of LangChain: OpenAIEmbeddings(check_embedding_ctx_length=False) sends texts)';
/** One text, or an array of texts; tokens are those of another tokenizer. */ function textsOf(body, field) {
    const value = body[field];
    const texts = Array.isArray(value) ? value : [
        value
    ];
    const wrong = texts.findIndex((text)=>typeof text !== 'string');
    if (wrong < 0) return texts;
    const at = Array.isArray(value) ? `${field}[${wrong}]` : field;
    const got = texts[wrong];
    const areTokens = typeof got === 'number' || Array.isArray(got) && typeof got[0] === 'number';
    throw invalid(at, areTokens ? SENDS_TOKENS : 'a text', areTokens ? 'tokens' : got);
}
function optionalText(body, key) {
    const value = body[key];
    if (value === undefined || typeof value === 'string') return value;
    throw invalid(key, 'a text', value);
}
/** Its bounds are the model's. */ function dimensionsOf(body) {
    const dimensions = numberIn(body.dimensions);
    if (dimensions === undefined || typeof dimensions === 'number') return dimensions;
    throw invalid('dimensions', 'a number', dimensions);
}
function requestOf(body, { textsAt, promptAt }) {
    const named = promptAt.flatMap((key)=>optionalText(body, key) ?? []);
    return {
        model: optionalText(body, 'model') ?? '',
        texts: textsOf(body, textsAt),
        dimensions: dimensionsOf(body),
        promptName: named[0],
        failures: wordOf(body, 'failures', [
            'whole',
            'each'
        ])
    };
}
/** The name by which a body names its prompt; that of the service where it names none. */ export function promptKeyOf(body, { promptAt }) {
    const given = Object(body);
    return promptAt.find((key)=>typeof given[key] === 'string') ?? 'prompt_name';
}
export function parseEmbeddings(body) {
    const members = membersOf(body, EMBEDDINGS_KEYS, EMBEDDINGS_FOREIGN);
    const encoding = wordOf(members, 'encoding_format', [
        'float',
        'base64'
    ]);
    return Object.assign(requestOf(members, EMBEDDINGS), {
        encoding
    });
}
export function parseEmbed(body) {
    const members = membersOf(body, EMBED_KEYS, EMBED_FOREIGN);
    if (!flagOf(members, 'truncate', true)) {
        throw invalid('truncate', 'true: texts beyond the positions of the model are truncated', false);
    }
    const isNormalised = flagOf(members, 'normalize', true);
    return Object.assign(requestOf(members, EMBED), {
        isNormalised
    });
}

//# sourceMappingURL=embedding-body.js.map