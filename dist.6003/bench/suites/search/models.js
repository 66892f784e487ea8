import { existsSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../../libs/ops/config/src/index.js";
import { fail } from "../../../tools/terminal/command.js";
import { TINY } from "../../models/model-shape.js";
import { servedModel } from "../streams/served-model.js";
/** Folders of --models; the first three are what the bars speak of. */ const TRAINED = [
    'steam',
    'beauty',
    'industrial'
];
const CATALOGUES = [
    ...TRAINED,
    'ml-100k'
];
const FLAT = 'flat';
const DEMO = join(repositoryRoot, 'models', 'demo');
const SCRIPT = 'bench/suites/search/train-models.sh';
/** The models of --models; without it the demo's, and a random one over its items. */ export function suiteModels({ flags, say }) {
    const folder = flags.text('models');
    if (folder === undefined) {
        say(`without --models the demo's model stands for trained ones, and no bars: sh ${SCRIPT}`);
        const sequencesPath = join(DEMO, 'users.json');
        const demo = {
            name: 'demo',
            folder: DEMO,
            sequencesPath
        };
        const random = {
            name: 'random',
            folder: servedModel(TINY, say),
            sequencesPath
        };
        return {
            measured: [
                demo
            ],
            compared: [
                demo,
                random
            ],
            flat: undefined,
            areTrained: false
        };
    }
    const trained = (name)=>{
        const path = join(folder, name);
        const model = join(path, 'model');
        if (!existsSync(join(model, 'catalogue.jsonl'))) return [];
        return [
            {
                name,
                folder: model,
                sequencesPath: join(path, 'sequences.jsonl')
            }
        ];
    };
    const found = CATALOGUES.flatMap(trained);
    const measured = found.filter(({ name })=>TRAINED.includes(name));
    if (measured.length === 0) fail('models', `a folder that ${SCRIPT} has filled`, folder);
    return {
        measured,
        compared: found,
        flat: trained(FLAT)[0],
        areTrained: true
    };
}
/** A bar of trained models; without them there is none. */ export const barOf = ({ areTrained }, bar)=>areTrained ? bar : null;

//# sourceMappingURL=models.js.map