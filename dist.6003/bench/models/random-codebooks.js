import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Random } from "./random.js";
const SEED = 31;
const F32_BYTES = 4;
/** Items that a semantic ID takes: the bench adds many that random codes hardly tell apart. */ const CAPACITY = 1_000_000;
/** A folder as `trainer sids` writes it, of codes near the vectors of length 1. */ export function writeCodebooks(folder, levelSizes, { modelDigest, computeType, dimension }) {
    const random = new Random(SEED);
    const header = {
        __metadata__: {
            'tessera-codebooks': JSON.stringify({
                version: 1,
                capacity: CAPACITY
            })
        }
    };
    const numbers = [];
    let end = 0;
    for (const [level, codes] of levelSizes.entries()){
        const book = Float32Array.from({
            length: codes * dimension
        }, ()=>random.normal() / Math.sqrt(dimension) / 2 ** level);
        const data_offsets = [
            end,
            end + book.length * F32_BYTES
        ];
        header[`level.${level}`] = {
            dtype: 'F32',
            shape: [
                codes,
                dimension
            ],
            data_offsets
        };
        end += book.length * F32_BYTES;
        numbers.push(book);
    }
    const described = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(described.length));
    const parts = [
        length,
        described,
        ...numbers.map(({ buffer })=>Buffer.from(buffer))
    ];
    writeFileSync(join(folder, 'codebooks.safetensors'), Buffer.concat(parts));
    const made = {
        version: 1,
        kind: 'encoder',
        model_digest: modelDigest,
        compute_type: computeType
    };
    writeFileSync(join(folder, 'text.json'), JSON.stringify(made));
}

//# sourceMappingURL=random-codebooks.js.map