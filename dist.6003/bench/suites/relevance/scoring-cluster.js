import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../../libs/ops/config/src/index.js";
import { configOf, tensorsOf } from "../../models/model-shape.js";
import { Random } from "../../models/random.js";
import { randomFolder, writeSafetensors } from "../../models/random-model.js";
import { BenchCluster } from "../cluster/bench-cluster.js";
/** Small enough for calls in a fraction of a second on one thread. */ const SHAPE = {
    name: 'relevance-4x256',
    layers: 4,
    hidden: 256,
    heads: 4,
    kvHeads: 2,
    headDim: 64,
    inner: 768
};
const SEED = 23;
const FIXTURE = join(repositoryRoot, 'test/fixtures/relevance');
const TEMPLATE = {
    version: 1,
    name: 'bench',
    segments: [
        'Query: {query}\n',
        'Document: {item}',
        '\nfits:'
    ],
    labels: [
        {
            text: 'yes',
            value: 1
        },
        {
            text: 'no',
            value: 0
        }
    ]
};
const CHARACTERS = {
    median: 240,
    spread: 0.8,
    least: 20,
    most: 3000
};
const WORDS = [
    'red',
    'shoes',
    'for',
    'running',
    'in',
    'the',
    'rain',
    'blue',
    'sea',
    'of',
    'wool'
];
/** A random model with the tokenizer of the fixture, whose texts it can be asked about. */ function modelFolder(say) {
    return randomFolder(SHAPE.name, say, (folder)=>{
        writeFileSync(join(folder, 'config.json'), JSON.stringify(configOf(SHAPE)));
        writeFileSync(join(folder, 'relevance.json'), JSON.stringify(TEMPLATE));
        for (const file of [
            'tokenizer.json',
            'tokenizer_config.json'
        ]){
            copyFileSync(join(FIXTURE, file), join(folder, file));
        }
        writeSafetensors(join(folder, 'model.safetensors'), tensorsOf(SHAPE), SEED);
    });
}
/** Nodes that score texts, each with so many threads, behind a gateway. */ export function startScoring(nodes, threads, say) {
    const more = {
        TESSERA_RELEVANCE_PATH: modelFolder(say),
        TESSERA_ENGINE_THREAD_COUNT: String(threads)
    };
    return BenchCluster.start(nodes, {}, '', more);
}
/** Documents of lognormal length. */ export function textsOf(count, seed) {
    const random = new Random(seed);
    return Array.from({
        length: count
    }, ()=>{
        const length = random.length(CHARACTERS);
        let text = '';
        while(text.length < length)text += `${WORDS[random.below(WORDS.length)]} `;
        return text.slice(0, length);
    });
}
export async function rerank(address, documents, deadlineMs = 60_000) {
    const reply = await fetch(`http://${address}/v1/rerank`, {
        method: 'POST',
        headers: {
            'content-type': 'application/json'
        },
        body: JSON.stringify({
            query: 'red shoes for running',
            documents,
            deadline_ms: deadlineMs
        })
    });
    const answer = await reply.json();
    if (reply.ok) return answer;
    throw new Error(`rerank: expected 200, got ${reply.status}: ${JSON.stringify(answer)}`);
}

//# sourceMappingURL=scoring-cluster.js.map