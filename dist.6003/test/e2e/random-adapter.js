/** PEFT folders with seeded random factors. */ import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { safetensors } from "./random-model.js";
export const DEMO = 'models/demo';
/** Writes the folder and returns its path. */ export function writeRandomAdapter(folder, wanted) {
    const { seed, size, rank = 4, config = {}, weights = (content)=>content } = wanted;
    const path = join(wanted.model ?? DEMO, 'config.json');
    const model = JSON.parse(readFileSync(path, 'utf8'));
    const { num_hidden_layers: layers, hidden_size: hidden } = model;
    const queries = model.num_attention_heads * model.head_dim;
    const tensors = Array.from({
        length: layers
    }).flatMap((_, layer)=>{
        const name = `base_model.model.model.layers.${layer}.self_attn`;
        return [
            {
                name: `${name}.q_proj.lora_A.weight`,
                shape: [
                    rank,
                    hidden
                ]
            },
            {
                name: `${name}.q_proj.lora_B.weight`,
                shape: [
                    queries,
                    rank
                ]
            },
            {
                name: `${name}.o_proj.lora_A.weight`,
                shape: [
                    rank,
                    queries
                ]
            },
            {
                name: `${name}.o_proj.lora_B.weight`,
                shape: [
                    hidden,
                    rank
                ]
            }
        ];
    });
    const target_modules = [
        'q_proj',
        'o_proj'
    ];
    const settings = {
        peft_type: 'LORA',
        r: rank,
        lora_alpha: rank,
        target_modules
    };
    mkdirSync(folder, {
        recursive: true
    });
    writeFileSync(join(folder, 'adapter_config.json'), JSON.stringify({
        ...settings,
        ...config
    }));
    const content = weights(safetensors(tensors, seed, size));
    writeFileSync(join(folder, 'adapter_model.safetensors'), content);
    return folder;
}

//# sourceMappingURL=random-adapter.js.map