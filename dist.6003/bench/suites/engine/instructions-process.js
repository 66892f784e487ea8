/** Answers so many recalls on one thread and ends: what the profile of instructions runs. */ import { TINY } from "../../models/model-shape.js";
import { BenchEngine, withEngine } from "./bench-engine.js";
const ITEMS = 20_000;
const PROMPT_TOKENS = 512;
const WIDTH = 64;
const recalls = Number(process.argv[2]);
// Passes cut by the clock would be as many as valgrind is slow.
const options = {
    threadCount: 1,
    passTimeTargetUs: 0
};
const say = (line)=>process.stderr.write(`${line}\n`);
const opened = BenchEngine.open(TINY, 'bf16', options, say, ITEMS);
await withEngine(opened, async (engine)=>{
    for(let at = 0; at < recalls; at += 1){
        await engine.recall({
            tokens: engine.prompt(PROMPT_TOKENS, 9000 + at),
            width: WIDTH
        });
    }
});

//# sourceMappingURL=instructions-process.js.map