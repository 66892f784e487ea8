import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tensorsOf } from "./model-shape.js";
import { writeSafetensors } from "./random-model.js";
/** A fine-tuned B beside an A that began at one over the root of its inputs. */ const B_DEVIATION = 0.02;
/** Writes a PEFT folder of random factors of every linear layer, in BF16. */ export function randomAdapter(folder, shape, rank, seed) {
    mkdirSync(folder, {
        recursive: true
    });
    const tensors = tensorsOf(shape).filter(({ name })=>name.endsWith('_proj.weight'));
    const config = {
        peft_type: 'LORA',
        r: rank,
        lora_alpha: 2 * rank,
        target_modules: 'all-linear',
        bias: 'none'
    };
    writeFileSync(join(folder, 'adapter_config.json'), `${JSON.stringify(config)}\n`);
    const factors = tensors.flatMap((tensor)=>factorsOf(tensor, rank));
    writeSafetensors(join(folder, 'adapter_model.safetensors'), factors, seed);
}
function factorsOf({ name, shape }, rank) {
    const module = `base_model.model.${name.slice(0, -'.weight'.length)}`;
    const [outputs = 0, inputs = 0] = shape;
    return [
        {
            name: `${module}.lora_A.weight`,
            shape: [
                rank,
                inputs
            ],
            deviation: 1 / Math.sqrt(inputs)
        },
        {
            name: `${module}.lora_B.weight`,
            shape: [
                outputs,
                rank
            ],
            deviation: B_DEVIATION
        }
    ];
}

//# sourceMappingURL=random-adapter.js.map