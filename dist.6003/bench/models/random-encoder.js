import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomFolder, writeSafetensors } from "./random-model.js";
/** The shape of all-MiniLM-L6. */ export const MINILM = {
    name: 'MiniLM',
    layers: 6,
    hidden: 384,
    heads: 12,
    inner: 1536
};
export const ENCODERS = [
    MINILM,
    {
        name: 'BERT-base',
        layers: 12,
        hidden: 768,
        heads: 12,
        inner: 3072
    }
];
const SPECIAL = [
    '[PAD]',
    '[CLS]',
    '[SEP]',
    '[UNK]'
];
export const TOKENS = {
    begin: SPECIAL.indexOf('[CLS]'),
    end: SPECIAL.indexOf('[SEP]'),
    /** Of a word; those before are special. */ first: SPECIAL.length,
    count: 30_522
};
const POSITIONS = 512;
const SEGMENTS = 2;
const BIAS_DEVIATION = 0.02;
const SEED = 22;
/** The text of a token in the tokenizer of the random encoders. */ export const wordOf = (token)=>`w${token}`;
/** Folder of a Hugging Face checkpoint in BF16, with a tokenizer, made where it is absent. */ export function randomEncoder(shape, say) {
    return randomFolder(`encoder-${shape.name}`, say, (folder)=>{
        const write = (name, value)=>writeFileSync(join(folder, name), `${JSON.stringify(value)}\n`);
        write('config.json', configOf(shape));
        write('tokenizer.json', tokenizer());
        write('tokenizer_config.json', {
            model_max_length: POSITIONS
        });
        writeSafetensors(join(folder, 'model.safetensors'), tensorsOf(shape), SEED);
    });
}
function configOf({ layers, hidden, heads, inner }) {
    return {
        architectures: [
            'BertModel'
        ],
        model_type: 'bert',
        dtype: 'bfloat16',
        hidden_act: 'gelu',
        hidden_size: hidden,
        intermediate_size: inner,
        layer_norm_eps: 1e-12,
        max_position_embeddings: POSITIONS,
        num_attention_heads: heads,
        num_hidden_layers: layers,
        pad_token_id: SPECIAL.indexOf('[PAD]'),
        position_embedding_type: 'absolute',
        type_vocab_size: SEGMENTS,
        vocab_size: TOKENS.count
    };
}
/** Every tensor in the names of Hugging Face. */ function tensorsOf({ layers, hidden, inner }) {
    const linear = (name, outputs, inputs)=>[
            {
                name: `${name}.weight`,
                shape: [
                    outputs,
                    inputs
                ],
                deviation: 1 / Math.sqrt(inputs)
            },
            {
                name: `${name}.bias`,
                shape: [
                    outputs
                ],
                deviation: BIAS_DEVIATION
            }
        ];
    const norm = (name)=>[
            {
                name: `${name}.weight`,
                shape: [
                    hidden
                ],
                deviation: 0
            },
            {
                name: `${name}.bias`,
                shape: [
                    hidden
                ],
                deviation: BIAS_DEVIATION
            }
        ];
    const table = (name, rows)=>({
            name: `embeddings.${name}_embeddings.weight`,
            shape: [
                rows,
                hidden
            ],
            deviation: 1
        });
    const layer = (at)=>{
        const prefix = `encoder.layer.${at}`;
        const own = [
            'query',
            'key',
            'value'
        ].map((name)=>`${prefix}.attention.self.${name}`);
        return [
            ...own.flatMap((name)=>linear(name, hidden, hidden)),
            ...linear(`${prefix}.attention.output.dense`, hidden, hidden),
            ...norm(`${prefix}.attention.output.LayerNorm`),
            ...linear(`${prefix}.intermediate.dense`, inner, hidden),
            ...linear(`${prefix}.output.dense`, hidden, inner),
            ...norm(`${prefix}.output.LayerNorm`)
        ];
    };
    return [
        table('word', TOKENS.count),
        table('position', POSITIONS),
        table('token_type', SEGMENTS),
        ...norm('embeddings.LayerNorm'),
        ...Array.from({
            length: layers
        }, (_, at)=>layer(at)).flat(),
        ...linear('pooler.dense', hidden, hidden)
    ];
}
/** WordPiece as BERT has it; every token but the special ones is a word of its own. */ function tokenizer() {
    const words = Array.from({
        length: TOKENS.count
    }, (_, id)=>SPECIAL[id] ?? wordOf(id));
    const special = (content)=>({
            id: SPECIAL.indexOf(content),
            content,
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: false,
            special: true
        });
    const mark = (id)=>({
            SpecialToken: {
                id,
                type_id: 0
            }
        });
    const single = [
        mark('[CLS]'),
        {
            Sequence: {
                id: 'A',
                type_id: 0
            }
        },
        mark('[SEP]')
    ];
    const marks = [
        '[CLS]',
        '[SEP]'
    ].map((id)=>[
            id,
            {
                id,
                ids: [
                    SPECIAL.indexOf(id)
                ],
                tokens: [
                    id
                ]
            }
        ]);
    return {
        version: '1.0',
        truncation: null,
        padding: null,
        added_tokens: SPECIAL.map(special),
        normalizer: {
            type: 'BertNormalizer',
            clean_text: true,
            handle_chinese_chars: true,
            strip_accents: null,
            lowercase: true
        },
        pre_tokenizer: {
            type: 'BertPreTokenizer'
        },
        post_processor: {
            type: 'TemplateProcessing',
            single,
            pair: [
                ...single,
                {
                    Sequence: {
                        id: 'B',
                        type_id: 0
                    }
                },
                mark('[SEP]')
            ],
            special_tokens: Object.fromEntries(marks)
        },
        decoder: {
            type: 'WordPiece',
            prefix: '##',
            cleanup: true
        },
        model: {
            type: 'WordPiece',
            unk_token: '[UNK]',
            continuing_subword_prefix: '##',
            max_input_chars_per_word: 100,
            vocab: Object.fromEntries(words.map((word, id)=>[
                    word,
                    id
                ]))
        }
    };
}

//# sourceMappingURL=random-encoder.js.map