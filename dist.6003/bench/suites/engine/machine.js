import os from "node:os";
import { nativeResults } from "../native-bench.js";
const NO_BAR = {
    bar: null
};
/** A row is there where the processor has the instructions. */ const F32_PROBES = [
    'avx2',
    'avx512'
].map((set)=>`multiply-add ${set}`);
const BF16_PROBES = [
    'avx512',
    'amx'
].map((set)=>`multiply-add bf16 ${set}`);
const INT8_PROBES = [
    'avx2',
    'avx-vnni',
    'avx512-vnni',
    'amx'
].map((set)=>`multiply-add int8 ${set}`);
/** Runs the roofline probe. Products are compared with the fastest instructions of their type. */ export async function probeMachine(isQuick) {
    const threads = os.availableParallelism();
    const words = [
        '--threads',
        String(threads),
        ...isQuick ? [
            '--quick'
        ] : []
    ];
    const results = await nativeResults('roofline_bench', words);
    const fastest = (...names)=>{
        const found = results.filter(({ name })=>names.includes(name)).map(({ value })=>value);
        if (found.length === 0) throw new Error(`roofline_bench: expected ${names[0]}, got nothing`);
        return Math.max(...found);
    };
    const float = fastest(...F32_PROBES);
    // BF16 is also multiplied as F32, where that is faster.
    const bf16 = fastest(...BF16_PROBES, ...F32_PROBES);
    const int8 = fastest(...INT8_PROBES);
    const bandwidth = fastest('memory read');
    const peaks = {
        f32: {
            operations: float,
            attentionOperations: float,
            bandwidth
        },
        bf16: {
            operations: bf16,
            attentionOperations: bf16,
            bandwidth
        },
        w8a8: {
            operations: int8,
            attentionOperations: bf16,
            bandwidth
        }
    };
    const measurements = results.map(({ name, value: perSecond, unit })=>({
            name: `roofline, ${threads} threads: ${name}`,
            value: perSecond / 1e9,
            unit: `G${unit}`,
            ...NO_BAR
        }));
    return {
        threads,
        peaks: (computeType)=>peaks[computeType],
        measurements
    };
}

//# sourceMappingURL=machine.js.map