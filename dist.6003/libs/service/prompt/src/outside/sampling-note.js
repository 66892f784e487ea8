import { join } from "node:path";
import { readRegular, textOf } from "../../../../ops/files/src/index.js";
const FILE = 'generation_config.json';
const FILE_BYTES_MAX = 16 << 20;
/** Settings by which transformers chooses tokens, and the values that change nothing. */ const SETTINGS = {
    temperature: [
        1
    ],
    top_k: [
        50
    ],
    top_p: [
        1
    ],
    min_p: [],
    typical_p: [
        1
    ],
    repetition_penalty: [
        1
    ],
    no_repeat_ngram_size: [
        0
    ],
    encoder_repetition_penalty: [
        1
    ],
    length_penalty: [
        1
    ],
    diversity_penalty: [
        0
    ],
    bad_words_ids: [],
    suppress_tokens: [],
    begin_suppress_tokens: [],
    forced_bos_token_id: [],
    forced_eos_token_id: [],
    sequence_bias: [],
    exponential_decay_length_penalty: [],
    guidance_scale: [
        1
    ]
};
/**
 * A line that names what a model's folder asks of `generate` of transformers and recalls do not
 * follow; undefined where there is nothing of the kind.
 */ export async function samplingNote(folder) {
    const settings = await membersOf(join(folder, FILE));
    const { eos_token_id: ends } = await membersOf(join(folder, 'config.json'));
    const found = Object.entries(settings).filter(([name, value])=>value !== null && SETTINGS[name] && !SETTINGS[name].includes(value));
    const { eos_token_id: others = ends } = settings;
    if (JSON.stringify(others) !== JSON.stringify(ends)) found.push([
        'eos_token_id',
        others
    ]);
    if (found.length === 0) return undefined;
    const list = found.map(([name, value])=>`${name} ${JSON.stringify(value)}`).join(', ');
    return `${FILE}: ${list}: not used, recalls take the likeliest paths`;
}
/** Empty where the file is absent or no object: nothing of it is used. */ async function membersOf(path) {
    try {
        const bytes = await readRegular(path, FILE_BYTES_MAX);
        return Object(JSON.parse(textOf(path, bytes, 'MODEL_INVALID')));
    } catch  {
        return {};
    }
}

//# sourceMappingURL=sampling-note.js.map