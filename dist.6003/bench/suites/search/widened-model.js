import { closeSync, copyFileSync, ftruncateSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { safetensorsHeader, valuesOf } from "../../../libs/testing/src/index.js";
import { SHAPES, tensorsOf } from "../../models/model-shape.js";
import { bf16 } from "../../models/random.js";
import { randomFolder } from "../../models/random-model.js";
const BF16_BYTES = 2;
const FROM_SMALL = [
    'catalogue.jsonl',
    'prompt.json',
    'tokenizer.json',
    'tokenizer_config.json'
];
/** Folder of the trained model in the 0.6B shape, made where it is absent or older. */ export function widenedModel({ name, folder }, say) {
    const source = readSmall(folder);
    const shape = {
        ...SHAPES['qwen3-0.6b'],
        vocabulary: source.config.vocab_size
    };
    const { mtimeMs } = statSync(join(folder, 'model.safetensors'));
    return randomFolder(`${name}-widened-${Math.round(mtimeMs)}`, say, (fresh)=>{
        for (const file of FROM_SMALL)copyFileSync(join(folder, file), join(fresh, file));
        const config = JSON.stringify(configOf(source, shape), null, 2);
        writeFileSync(join(fresh, 'config.json'), `${config}\n`);
        writeTensors(join(fresh, 'model.safetensors'), source, shape);
    });
}
function configOf({ config }, shape) {
    const { layers, hidden, heads, kvHeads, headDim, inner } = shape;
    return Object.assign({}, config, {
        dtype: 'bfloat16',
        num_hidden_layers: layers,
        hidden_size: hidden,
        num_attention_heads: heads,
        num_key_value_heads: kvHeads,
        head_dim: headDim,
        intermediate_size: inner,
        layer_types: Array.from({
            length: layers
        }, ()=>'full_attention'),
        max_window_layers: layers,
        rms_norm_eps: config.rms_norm_eps * config.hidden_size / hidden
    });
}
function readSmall(folder) {
    const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
    const bytes = readFileSync(join(folder, 'model.safetensors'));
    const length = Number(bytes.readBigUInt64LE());
    const header = JSON.parse(bytes.toString('utf8', 8, 8 + length));
    const tensors = new Map();
    for (const [name, { dtype, data_offsets: range }] of Object.entries(header)){
        if (name === '__metadata__') continue;
        const data = bytes.subarray(8 + length + range[0], 8 + length + range[1]);
        tensors.set(name, floatsOf(data, dtype));
    }
    const shape = {
        name: 'small',
        layers: config.num_hidden_layers,
        hidden: config.hidden_size,
        heads: config.num_attention_heads,
        kvHeads: config.num_key_value_heads,
        headDim: config.head_dim,
        inner: config.intermediate_size,
        vocabulary: config.vocab_size
    };
    return {
        shape,
        config,
        tensors
    };
}
function floatsOf(data, dtype) {
    if (dtype === 'F32') {
        return Float32Array.from({
            length: data.length / 4
        }, (_, at)=>data.readFloatLE(4 * at));
    }
    if (dtype !== 'BF16') throw new Error(`expected weights in F32 or BF16, got ${dtype}`);
    const bits = Uint32Array.from({
        length: data.length / BF16_BYTES
    }, (_, at)=>data.readUInt16LE(BF16_BYTES * at) << 16);
    return new Float32Array(bits.buffer);
}
const same = (index)=>index;
/** Of the numbers of all heads: those of one lie apart, each half in its half. */ export function headPlaces(small, large) {
    const stride = large / small;
    return (index)=>{
        const [head, at] = [
            Math.floor(index / small),
            index % small
        ];
        const half = small / 2;
        const within = at < half ? at * stride : large / 2 + (at - half) * stride;
        return head * large + within;
    };
}
/** By the end of a tensor's name; all others stay where they are. */ function placementOf(name, small, large) {
    const heads = headPlaces(small.headDim, large.headDim);
    const hiddenGain = Math.sqrt(small.hidden / large.hidden);
    const headGain = Math.sqrt(small.headDim / large.headDim);
    if (/\.(q|k|v)_proj\.weight$/.test(name)) return {
        rows: heads,
        columns: same,
        gain: 1
    };
    if (name.endsWith('.o_proj.weight')) return {
        rows: same,
        columns: heads,
        gain: 1
    };
    // The scale of attention, one over the root of a head's size, is made up for in the queries.
    if (name.endsWith('.q_norm.weight')) return {
        rows: same,
        columns: heads,
        gain: 1
    };
    if (name.endsWith('.k_norm.weight')) return {
        rows: same,
        columns: heads,
        gain: headGain
    };
    if (name.endsWith('norm.weight')) return {
        rows: same,
        columns: same,
        gain: hiddenGain
    };
    return {
        rows: same,
        columns: same,
        gain: 1
    };
}
function writeTensors(path, source, large) {
    const tensors = tensorsOf(large);
    const sizes = new Map(tensorsOf(source.shape).map(({ name, shape })=>[
            name,
            shape
        ]));
    const file = openSync(path, 'w');
    try {
        const header = safetensorsHeader(tensors, 'BF16');
        writeSync(file, header);
        let begin = header.length;
        for (const tensor of tensors){
            const shape = sizes.get(tensor.name);
            if (shape !== undefined) writeWidened(file, begin, tensor, shape, source, large);
            begin += BF16_BYTES * valuesOf(tensor);
        }
        // Numbers that are not written are nought.
        ftruncateSync(file, begin);
    } finally{
        closeSync(file);
    }
}
function writeWidened(file, begin, { name, shape: large }, small, { tensors, shape }, largeShape) {
    const values = tensors.get(name);
    if (values === undefined) throw new Error(`expected a tensor ${name} in the trained model`);
    const { rows, columns, gain } = placementOf(name, shape, largeShape);
    const [width, largeWidth] = [
        small.at(-1) ?? 0,
        large.at(-1) ?? 0
    ];
    for(let row = 0; row < values.length / width; row += 1){
        const line = new Uint16Array(largeWidth);
        for(let column = 0; column < width; column += 1){
            line[columns(column)] = bf16(gain * values[row * width + column]);
        }
        writeSync(file, line, 0, line.byteLength, begin + BF16_BYTES * largeWidth * rows(row));
    }
}

//# sourceMappingURL=widened-model.js.map