// Completions of requests as packed words: a head, then why it failed, or what all answers have and
// what the kind's answer has of its own (ANSWERS, by kind as in request.mjs).
import { Verdict } from './catalogue.mjs';
import {
  choice,
  codes,
  each,
  f32,
  f32s,
  flag,
  list,
  number,
  numbers,
  one,
  record,
  rows,
  text,
  u32,
  u53,
  words,
} from './fields.mjs';
import { KvFound } from './kv.mjs';

const Completeness = words('Completeness', 'COMPLETENESS', ['whole', 'narrowed', 'cut'], {
  doc: 'How much of the search that was asked for an answer has seen.',
  cpp: 'engine::Completeness',
});

const Propensities = words('Propensities', 'PROPENSITIES', ['known', 'beam', 'capped', 'stopped'], {
  doc: 'Why a drawn item has no propensity: a beam, caps, a search that was not certified.',
  cpp: 'beam::Propensities',
});

const Prices = words(
  'Prices',
  'PRICES',
  ['known', 'uncertified', 'stopped', 'capped', 'none-left-out'],
  {
    doc:
      'Why no item by value has a critical bid: the answer is not certified, the search ended ' +
      'before it knew the best item left out, caps, nothing was left out.',
    cpp: 'beam::Prices',
  },
);

const CompletionHead = record('CompletionHead', 'engine::Completion', 'A finished ticket.', {
  ticket: u32(),
  status: u32('Index into AbiDescription.codes; 0: OK.', 'uint32_t(from.status.code())'),
  kind: u32('Index into REQUEST_KINDS, where the status is OK.', 'engine::code_of(from.task)'),
});

const Failure = record('Failure', 'engine::Completion', 'Why a request has no answer.', {
  message: text('', 'from.status.message()'),
  retryAfterUs: u32('Of a refusal for load: when a retry may succeed; 0: no hint.'),
});

const Timings = record(
  'EngineTimings',
  'engine::Timings',
  'Microseconds of a request: sums over its passes, and what comes before and after them.',
  {
    queueUs: f32(),
    planUs: f32('Deciding who runs.'),
    prefillUs: f32(),
    decodeUs: f32(),
    projectionsUs: f32("Of prefill and decode: products with the layers' weights."),
    attentionUs: f32('Of prefill and decode.'),
    headUs: f32(),
    selectUs: f32(),
    forkUs: f32(),
    exportUs: f32(),
    totalUs: f32(),
  },
);

const Pass = record(
  'EnginePass',
  'engine::PassTimes',
  'One forward pass that a request waited for.',
  {
    kind: choice(['prefill', 'decode'], '', 'from.is_decode'),
    rows: u32('Of all requests in it.'),
    planUs: f32(),
    forwardUs: f32('All layers; projections and attention are parts of it.'),
    projectionsUs: f32(),
    attentionUs: f32(),
    headUs: f32(),
    selectUs: f32(),
    forkUs: f32(),
  },
);

const AnswerFacts = record('AnswerFacts', 'engine::Completion', 'Facts in an answer of any kind.', {
  weightsGeneration: u53('Updates of the weights before the request ran.'),
  catalogueSequence: u53('Number of the last change of the version that was searched.'),
  prefixReusedTokens: u32('Prompt tokens that other requests computed.'),
  kv: one(KvFound, 'Prompt tokens that the user KV pool had.', 'from'),
  timings: one(Timings),
});

const AnswerItem = record('AnswerItem', 'engine::Completion', '', {
  ordinal: u32('', 'from.answer.item_ordinals[i]'),
  itemId: text('As the version has it that the request was answered from.', 'from.texts.ids[i]'),
  title: text('The same.', 'from.texts.titles[i]'),
  attributes: text(
    'JSON object of those asked for; empty: none were.',
    'from.texts.attributes_of(i)',
  ),
  score: f32('', 'from.answer.item_scores[i]'),
  path: u32("Index of the item's path.", 'from.answer.item_paths[i]'),
  value: f32('By the valuation; the score where there is none.', 'from.answer.value_of(i)'),
  pace: f32('Factor of the bid; 1: none.', 'from.answer.pace_of(i)'),
  criticalBid: f32(
    'The lowest bid with which the item would still be in the answer; NaN: not known, or none.',
    'from.answer.critical_bid_of(i)',
  ),
  explored: flag('It was drawn.', 'from.answer.is_explored(i)'),
  propensity: f32(
    'Probability with which the item came into the answer; NaN: not known.',
    'from.answer.propensity_of(i)',
  ),
});

const AnswerPath = record('AnswerPath', 'engine::Completion', '', {
  sid: codes('', 'from.answer.path(i)'),
  score: f32('Log-probability of the path.', 'from.answer.path_scores[i]'),
});

const ItemFate = record('WatchedItem', 'beam::Explanation', 'The fate of a watched item.', {
  verdict: choice(Verdict, '`open` where no item was watched.'),
  rank: u32('From 1: of the item in the answer, or of its path among the candidates of the step.'),
  step: u32('Pruned: in which selection, from 0.'),
  score: f32(),
  cutScore: f32('Pruned: of the last candidate that was kept in its stead.'),
  attribute: text('Behind a diversity cap: its attribute.'),
});

const TreeRow = record('Tree', 'beam::TreeRow', '', {
  step: u32(),
  parent: u32(),
  code: u32(),
  outcome: u32(),
  items: u32(),
});

const RecallAnswer = record('RecallAnswer', 'engine::Completion', '', {
  items: each(AnswerItem, 'from.answer.item_ordinals.size()', 'Best first.'),
  paths: each(AnswerPath, 'from.answer.path_scores.size()'),
  itemsPerSid: u32('Items of a SID at most, as it was applied.'),
  leftOutByDiversity: u32(
    'Items that a diversity cap kept out.',
    'from.answer.left_out_by_diversity',
  ),
  completeness: choice(Completeness),
  certified: flag(
    'No item that a request may get is better than those that the answer leaves out.',
    'from.certificate.is_certified',
  ),
  gap: f32(
    'The best score that an item missed by the search could have; -infinity where it is certified.',
    'from.certificate.gap',
  ),
  rows: u32('Rows of beams that were computed.', 'from.rows'),
  itemTerms: f32s(
    'Of a recall by value: weighted terms of each item, in the order of the valuation; end to end.',
    'from.answer.item_terms',
  ),
  bestLeftOut: f32(
    'Of a recall by value: value of the best item left out; -infinity: none is; NaN: not known.',
    'from.answer.best_left_out',
  ),
  bestLeftOutId: text('ID of that item, where its bid is known.', 'from.texts.best_left_out'),
  bestLeftOutBid: f32(
    "The lowest bid with which its value would be no lower than the last item's; NaN: not known, " +
      'or none.',
    'from.answer.best_left_out_bid',
  ),
  prices: choice(Prices, 'Of a recall by value.', 'from.answer.prices'),
  propensities: choice(Propensities, '', 'from.answer.propensities'),
  watched: one(ItemFate, '', 'from.explanation'),
  widthsUsed: codes('Widths after capping by what is reachable, per step.'),
  treeCells: rows(
    TreeRow,
    'Candidates of a search (beam::Tree): step from 0, row of its parent or NO_ROW, code or ' +
      'TERMINAL_CODE, bits of TREE_OUTCOMES, items to be had at it or below.',
    'from.tree.rows',
  ),
  treeScores: f32s('Of each of these.', 'from.tree.scores'),
  passes: list(Pass, 'In their order.'),
  heads: f32s(
    'Of a recall that is ranked: calibrated numbers of each head, item by item.',
    'from.heads',
  ),
});

const ScoreAnswer = record('ScoreAnswer', 'engine::Completion', '', {
  scores: f32s('One per SID, NaN where the catalogue has no such path with items.'),
});

const AppendAnswer = record('AppendAnswer', 'engine::Completion', '', {});

const RelevanceAnswer = record('RelevanceAnswer', 'engine::Completion', '', {
  logits: f32s(
    'Of each label token; with scoreNorm `full` then the logarithm of the sum of exp(logit) over ' +
      'the vocabulary.',
    'from.scores',
  ),
});

const RankAnswer = record('RankAnswer', 'engine::Completion', '', {
  heads: f32s('Calibrated numbers of each head, item by item.', 'from.heads'),
});

/** Of each kind, in their order. */
export const ANSWERS = [RecallAnswer, ScoreAnswer, AppendAnswer, RelevanceAnswer, RankAnswer];

const NONE = 0xffff_ffff;

export default {
  numbers: [
    numbers('TREE_OUTCOMES', 'Bits of a row of a tree; neither of the first two: rejected.', {
      goesOn: number(1, 'beam::kGoesOn'),
      endsHere: number(2, 'beam::kEndsHere'),
      atLeast: number(4, 'beam::kAtLeast'),
      provedOut: number(8, 'beam::kProvedOut'),
    }),
    numbers('NOTHING', 'Placeholders for an absent value.', {
      row: number(NONE, 'beam::kNoRow'),
      code: number(NONE, 'beam::kTerminalCode'),
      item: number(NONE, 'catalogue::kNoItem'),
      adapter: number(NONE, 'kNoAdapter'),
      binding: number(NONE, 'kNoBinding'),
    }),
  ],
  words: [Completeness, Propensities, Prices],
  packedOut: [CompletionHead, Failure, AnswerFacts, ...ANSWERS],
};
