import { Flags, fail, print, runCommand } from '../tools/terminal/command.js';
import { MODEL_FLAGS } from '../tools/terminal/model-flags.js';
import { report, resultTable, writeReport } from './result.js';
import { ADAPTER_PARTS, adaptersSuite } from './suites/adapters/adapters-suite.js';
import { CATALOGUE_PARTS, catalogueSuite } from './suites/catalogue.js';
import { CLUSTER_STAGES, clusterSuite } from './suites/cluster/cluster-suite.js';
import { EDGE_STAGES, edgesSuite } from './suites/edges/edges-suite.js';
import { EMBEDDING_STAGES, embeddingSuite } from './suites/embedding/embedding-suite.js';
import { encoderDecoderSuite } from './suites/encoder-decoder.js';
import { engineSuite, STAGE_NAMES } from './suites/engine/engine-suite.js';
import { SHARED_STAGES, sharedSuite } from './suites/fleet/fleet-suite.js';
import { kvSuite } from './suites/kv/kv-suite.js';
import { LEARNING_STAGES, learningSuite } from './suites/learning/learning-suite.js';
import { CALL_KINDS } from './suites/overload/load-plan.js';
import { LOAD_NAMES } from './suites/overload/loads.js';
import { OVERLOAD_STAGES, overloadSuite } from './suites/overload/overload-suite.js';
import { RANKING_STAGES, rankingSuite } from './suites/ranking/ranking-suite.js';
import { recallSuite } from './suites/recall.js';
import { RELEVANCE_STAGES, relevanceSuite } from './suites/relevance/relevance-suite.js';
import { SEARCH_STAGES, searchSuite } from './suites/search/search-suite.js';
import { startSuite } from './suites/start.js';
import { streamsSuite } from './suites/streams.js';
import type { Suite } from './suites/suite.js';
import { VALUE_STAGES, valueSuite } from './suites/value/value-suite.js';

const SUITES: Readonly<Record<string, Suite>> = {
  adapters: adaptersSuite,
  catalogue: catalogueSuite,
  cluster: clusterSuite,
  edges: edgesSuite,
  embedding: embeddingSuite,
  'encoder-decoder': encoderDecoderSuite,
  engine: engineSuite,
  kv: kvSuite,
  learning: learningSuite,
  overload: overloadSuite,
  ranking: rankingSuite,
  recall: recallSuite,
  relevance: relevanceSuite,
  search: searchSuite,
  shared: sharedSuite,
  start: startSuite,
  streams: streamsSuite,
  value: valueSuite,
};

const USAGE = `usage: npm run bench -- SUITE [--quick] [--json FILE] [flags]

Suites: ${Object.keys(SUITES).join(', ')}. Prints a table of numbers with the bars they must reach.
  --quick        a shorter run, at most three minutes on two cores
  --json FILE    where the result is kept
  --model DIR, --catalogue FILE, --users-file FILE, --threads N    what the recall suite serves
  --items N      SIDs of the catalogue suite
  --stage A,B, --shape A,B, --compute A,B, --peer A,B    parts of the engine suite;
                 --shape of the kv suite too, where --histories A,B are tokens at a visit;
                 stages: ${STAGE_NAMES.join(', ')}
  --stage A,B    parts of the embedding suite: ${EMBEDDING_STAGES.join(', ')};
                 --shape A,B of its encoders: MiniLM, BERT-base (quick: the first);
                 --model DIR, --texts FILE of ranks, which is left out without them
  --stage A,B    parts of the catalogue suite: ${CATALOGUE_PARTS.join(', ')}
  --stage A,B    parts of the cluster suite: ${CLUSTER_STAGES.join(', ')}
  --stage A,B    parts of the shared suite: ${SHARED_STAGES.join(', ')}
  --stage A,B    parts of the learning suite: ${LEARNING_STAGES.join(', ')};
                 --python FILE has trainer/requirements.txt (default: .venv/bin/python),
                 for the encoder-decoder suite as well
  --stage A,B    parts of the edges suite: ${EDGE_STAGES.join(', ')};
                 --against DIR takes turns with the build of another checkout
  --stage A,B    parts of the overload suite: ${OVERLOAD_STAGES.join(', ')};
                 of edge and gateway: --kinds A,B of ${CALL_KINDS.join(', ')};
                 --loads A,B of ${LOAD_NAMES.join(', ')};
                 --rounds N; --cores own: one for the generator, the other for the service;
                 edge: --against DIR takes turns with the build of another checkout;
                 gateway: --nodes A,B behind it; --deadlines A,B of 400, 100 (milliseconds)
  --stage A,B    parts of the adapters suite: ${ADAPTER_PARTS.join(', ')}
  --stage A,B    parts of the relevance suite: ${RELEVANCE_STAGES.join(', ')}
  --stage A,B    parts of the search suite: ${SEARCH_STAGES.join(', ')};
                 --models DIR is what bench/suites/search/train-models.sh has made
  --stage A,B    parts of the ranking suite: ${RANKING_STAGES.join(', ')}
  --stage A,B    parts of the value suite: ${VALUE_STAGES.join(', ')}`;

await runCommand(USAGE, async (words) => {
  const [name, ...rest] = words;
  if (name === undefined) {
    await print(USAGE);
    return;
  }
  const suite = Object.hasOwn(SUITES, name) ? SUITES[name] : undefined;
  const flags = Flags.parse(rest, {
    ...MODEL_FLAGS,
    quick: 'switch',
    json: 'text',
    items: 'text',
    stage: 'text',
    shape: 'text',
    compute: 'text',
    peer: 'text',
    texts: 'text',
    histories: 'text',
    against: 'text',
    kinds: 'text',
    loads: 'text',
    rounds: 'text',
    cores: 'text',
    nodes: 'text',
    deadlines: 'text',
    models: 'text',
    python: 'text',
  });
  if (suite === undefined) fail('SUITE', `one of ${Object.keys(SUITES).join(', ')}`, name);
  const quick = flags.has('quick');
  const started = performance.now();
  const say = (line: string) => {
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    process.stderr.write(`[${seconds} s] ${line}\n`);
  };
  const result = report(name, quick, await suite({ quick, flags, say }));
  await print(resultTable(result));
  const path = flags.text('json');
  if (path !== undefined) writeReport(path, result);
});
