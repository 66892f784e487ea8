/** Merges of the small tokenizer: enough that a token can grow over the border of two segments. */ const MERGES = [
    'h e',
    'he l',
    'hel l',
    'hell o',
    'Ġ t',
    'Ġt h',
    'Ġth e',
    ': Ċ',
    'Ċ Ċ',
    ', Ġ'
];
/** The printable stand-ins of the 256 bytes, as byte-level BPE of GPT-2 defines them. */ function byteAlphabet() {
    const printable = (byte)=>byte >= 33 && byte <= 126 || byte >= 161 && byte <= 172 || byte >= 174;
    let next = 256;
    return Array.from({
        length: 256
    }, (_, byte)=>String.fromCharCode(printable(byte) ? byte : next++));
}
/**
 * A small byte-level BPE tokenizer as the document of a tokenizer.json, split as Qwen2 splits.
 * @param addedTokens texts of the added tokens; their ids follow the base vocabulary, in order
 */ export function byteLevelTokenizer(addedTokens) {
    const merged = MERGES.map((merge)=>merge.replace(' ', ''));
    const texts = [
        ...byteAlphabet(),
        ...merged
    ];
    const vocab = Object.fromEntries(texts.map((text, id)=>[
            text,
            id
        ]));
    return {
        version: '1.0',
        truncation: null,
        padding: null,
        added_tokens: addedTokens.map((content, index)=>({
                id: texts.length + index,
                content,
                single_word: false,
                lstrip: false,
                rstrip: false,
                normalized: false,
                special: false
            })),
        normalizer: {
            type: 'NFC'
        },
        pre_tokenizer: {
            type: 'Sequence',
            pretokenizers: [
                {
                    type: 'Split',
                    pattern: {
                        Regex: '[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|\\s+|[^\\s\\p{L}\\p{N}]+\\s*'
                    },
                    behavior: 'Isolated',
                    invert: false
                },
                {
                    type: 'ByteLevel',
                    add_prefix_space: false,
                    trim_offsets: false,
                    use_regex: false
                }
            ]
        },
        post_processor: null,
        decoder: {
            type: 'ByteLevel',
            add_prefix_space: false,
            trim_offsets: false,
            use_regex: false
        },
        model: {
            type: 'BPE',
            dropout: null,
            unk_token: null,
            continuing_subword_prefix: null,
            end_of_word_suffix: null,
            fuse_unk: false,
            byte_fallback: false,
            ignore_merges: false,
            vocab,
            merges: MERGES
        }
    };
}
/** Texts of every level token of the patterns, level by level. */ export function levelTokenTexts(patterns, levelSizes) {
    return levelSizes.flatMap((size, level)=>Array.from({
            length: size
        }, (_, code)=>patterns[level].replace('{code}', String(code))));
}

//# sourceMappingURL=byte-level-tokenizer.js.map