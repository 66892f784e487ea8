import { RANK_USAGE } from './recall/ranking-flags.js';
import { rawRecall } from './recall/raw-recall.js';
import { RECALL_FLAGS } from './recall/recall-flags.js';
import { userRecall } from './recall/user-recall.js';
import { Flags, runCommand } from './terminal/command.js';
import { SEARCH_USAGE } from './terminal/search-flags.js';
import { EXPLORE_USAGE, VALUE_USAGE } from './terminal/value-flags.js';

const USAGE = `usage: npm run recall -- (--history ID,ID,... | --user ID) [flags]
       npm run recall -- --model DIR --catalogue FILE --prompt-tokens N,N,...
                         --level-token-base N,N,... [flags]

Recall for a user or for a history of item IDs, oldest first:
  --scene KEY=VALUE, --profile KEY=VALUE    slots of the prompt template; may repeat
  --users-file FILE    users.json or sequences (default: of the model folder)
  --skip-unknown       leave out items that the catalogue does not know
  --deadline-ms N      time that the recall may take
  --passes             where the time of each forward pass went
${VALUE_USAGE}
${EXPLORE_USAGE}
${RANK_USAGE}

Raw recall by token ids, without tokenizer and template (a code's token: its level's base + code):
  --prompts FILE.json  array of token-id arrays, in place of --prompt-tokens; one answer each
  --terminal-tokens N,N    tokens that end every path

Both:
  --model DIR          Hugging Face folder (default: the configured one)
  --catalogue FILE[#domain=NAME]    snapshot, or importable files; may repeat
  --titles FILE        titles by item ID, JSON or TSV
${SEARCH_USAGE}
  --widths N,N,...     beam width per step; the last holds for further steps
  --report FILE        a line of JSON a prompt: certified, rows, passes, gap (null: none)
  --results N          items (raw: SIDs) wanted
  --items-per-sid N    items of one SID at most
  --score full|level|allowed    what scores are normalised over
  --dtype f32|bf16|w8a8  type of the matrix products
  --activation-scales FILE  fixed scales for w8a8 (npm run doctor -- --calibrate)
  --threads N          compute threads
  --json               JSON on the standard output and nothing else (npm adds lines: npm run -s)`;

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, RECALL_FLAGS);
  const raw = flags.has('prompt-tokens') || flags.has('prompts') || flags.has('level-token-base');
  await (raw ? rawRecall(flags) : userRecall(flags));
});
