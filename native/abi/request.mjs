// Requests to the engine as packed words: a head, the work that all kinds have, then what the kind
// has of its own (KINDS, in the order of native/src/engine/tasks/tasks.cc).
import {
  choice,
  codes,
  f64,
  flag,
  i32s,
  paths,
  record,
  text,
  texts,
  u32,
  u32s,
  words,
} from './fields.mjs';

export const RequestKind = words(
  'RequestKind',
  'REQUEST_KINDS',
  ['recall', 'score', 'append', 'relevance', 'rank'],
  {
    doc: 'Kinds of request, by the code of their task.',
  },
);

const Priority = words('Priority', 'PRIORITIES', ['high', 'normal', 'low'], {
  doc: 'Class of a request: the more urgent goes first where requests compete.',
});

const ScoreNorm = words('ScoreNorm', 'SCORE_NORMS', ['full', 'level', 'allowed'], {
  cpp: 'beam::ScoreNorm',
});

const RequestHead = record('RequestHead', undefined, '', {
  ticket: u32("The caller's, unique among those in flight."),
  kind: choice(RequestKind),
  binding: u32('Slot of the binding; 0xFFFFFFFF: none, of kinds that need none.'),
  adapter: u32('Slot of the adapter; 0xFFFFFFFF: the base model.'),
  budgetUs: f64('Remaining time.'),
});

const RequestWork = record('RequestWork', 'engine::Request', '', {
  priority: choice(Priority),
  promptTokens: i32s('', 'to.prompt'),
  userId: text(
    "The user whose keys and values are found and kept; '': the static text's alone.",
    'to.kv.user',
  ),
  prefixTokens: u32(
    'First tokens of the prompt that are the same for all users.',
    'to.kv.prefix_tokens',
  ),
  keepTokens: u32(
    "First tokens of the prompt that the user's next one may begin with.",
    'to.kv.keep_tokens',
  ),
  wantsExactKv: flag('Nothing that an adapter before this one computed.', 'to.kv.wants_exact'),
});

const norm = choice(ScoreNorm, '', 'to.norm');

/** How items are read behind the prompt, and whose heads read them. */
const ranking = {
  rankSlot: u32(
    'Slot of the adapter whose heads rank; 0xFFFFFFFF: none. One with factors that is not ' +
      'activated is that of the request as well.',
    'to.ranking.slot',
  ),
  rankPrefix: i32s('Tokens before the SID of every item.', 'to.ranking.prefix'),
  rankSuffixes: paths(
    'Tokens behind the SID, by item; one: of every item; none: the SID ends it.',
    'to.ranking.suffix_tokens, to.ranking.suffix_offsets',
  ),
};

const RecallRequest = record('RecallRequest', 'engine::Request', 'A beam search for items.', {
  widths: codes('Beam width per step; the last holds for all further steps.'),
  rowBudget: u32('Rows of beams that a certified search computes at most; 0: a beam of `widths`.'),
  resultCount: u32(),
  itemsPerSid: u32('At most; 0: as few as fill the answer.'),
  scoreNorm: norm,
  allowsPartial: flag(
    'Rather a narrower search, or what of it has finished, than no answer in time.',
  ),
  watchedItem: u32('Ordinal of an item of the reach whose fate is asked for; NO_ITEM: none.'),
  attributes: texts('Names of attributes that the items of the answer shall have.'),
  wantsTree: flag('The answer lists the candidates that each step kept and first rejected.'),
  exploreSlots: u32('Last places of the answer that are drawn; 0: none.', 'to.explore.slots'),
  exploreTemperature: f64('', 'to.explore.temperature'),
  exploreSeedLow: u32('Lower 32 bits.', 'to.explore.seed_low'),
  exploreSeedHigh: u32('Upper 32 bits.', 'to.explore.seed_high'),
  ...ranking,
});

const ScoreRequest = record('ScoreRequest', 'engine::Request', 'Log-probabilities of paths.', {
  sids: paths('', 'to.sid_codes, to.sid_offsets'),
  scoreNorm: norm,
});

const AppendRequest = record(
  'AppendRequest',
  'engine::Request',
  'A prompt whose keys and values are computed and kept, and nothing else.',
  {},
);

const RelevanceRequest = record(
  'RelevanceRequest',
  'engine::Request',
  'Logits of given tokens behind a prompt.',
  {
    labelTokens: i32s(),
    siblingTokens: u32(
      'First tokens of the prompt that a request before it in the submission computes as well.',
    ),
    scoreNorm: norm,
  },
);

const RankRequest = record(
  'RankRequest',
  'engine::Request',
  'Heads over given items of a reach, each read behind the prompt.',
  {
    items: u32s('Ordinals of live items of the reach; at least one.', 'to.items'),
    ...ranking,
  },
);

/** Of each kind, in their order. */
export const REQUESTS = [RecallRequest, ScoreRequest, AppendRequest, RelevanceRequest, RankRequest];

export default {
  words: [RequestKind, Priority, ScoreNorm],
  packedIn: [RequestHead, RequestWork, ...REQUESTS],
};
