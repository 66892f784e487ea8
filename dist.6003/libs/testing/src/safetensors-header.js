const ALIGNED_BYTES = 64;
const LENGTH_BYTES = 8;
const VALUE_BYTES = {
    F32: 4,
    BF16: 2
};
export function valuesOf({ shape }) {
    return shape.reduce((product, size)=>product * size, 1);
}
/**
 * The beginning of a safetensors file: length, then JSON padded with spaces so that the tensors,
 * one behind the other in this order, begin on a multiple of 64 bytes.
 */ export function safetensorsHeader(tensors, dtype) {
    let end = 0;
    const entries = tensors.map(({ name, shape })=>{
        const begin = end;
        end += VALUE_BYTES[dtype] * valuesOf({
            shape
        });
        return [
            name,
            {
                dtype,
                shape,
                data_offsets: [
                    begin,
                    end
                ]
            }
        ];
    });
    const json = JSON.stringify({
        __metadata__: {
            format: 'pt'
        },
        ...Object.fromEntries(entries)
    });
    const whole = Math.ceil((json.length + LENGTH_BYTES) / ALIGNED_BYTES) * ALIGNED_BYTES;
    const text = json.padEnd(whole - LENGTH_BYTES, ' ');
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeBigUInt64LE(BigInt(text.length));
    return Buffer.concat([
        length,
        Buffer.from(text, 'latin1')
    ]);
}

//# sourceMappingURL=safetensors-header.js.map