// Eligibility, item policy and valuation of a request, as packed words on their way in. To add a
// kind of condition, add a word to CLAUSE_KINDS with the fields that it needs, or a field to
// Eligibility.
import {
  choice,
  f64,
  list,
  number,
  numbers,
  one,
  optional,
  record,
  text,
  texts,
  u32,
  u32s,
  words,
} from './fields.mjs';

const ClauseKind = words(
  'ClauseKind',
  'CLAUSE_KINDS',
  ['all', 'any', 'not', 'in', 'contains', 'range'],
  { doc: 'Condition of a clause (docs/concepts/eligibility.md).', cpp: 'catalogue::ClauseKind' },
);

export const Clause = record(
  'Clause',
  'catalogue::Clause',
  'A condition on the attributes of an item. Members that its kind has no use for are empty.',
  {
    kind: choice(ClauseKind),
    attribute: text('Of in, contains and range.'),
    values: texts('Of in and contains.'),
    min: f64('Of range; minus infinity: no bound.'),
    max: f64('Of range; infinity: no bound.'),
  },
);
Clause.fields.clauses = list(Clause, 'Of all and any; one of not.');

const CountedCap = record(
  'CountedCap',
  'catalogue::CountedCap',
  'A frequency cap, and the behaviours of the user that count towards it.',
  {
    path: text('How an explanation names it, and a refusal.'),
    attribute: text("Items that share a text of it count together; '': each item alone."),
    maxBehaviours: u32('Items with so many are not to be had; at least 1.', 'to.behaviours_max'),
    itemIds: texts('Of the behaviours, each once.', 'to.items'),
    behaviours: u32s('Of each of these items.'),
  },
);

const Eligibility = record(
  'Eligibility',
  'catalogue::EligibilityRequest',
  'The items that a request may get. IDs that no catalogue has are no error.',
  {
    predicate: optional(one(Clause)),
    allowed: optional(texts(), 'These alone.'),
    denied: texts('Not these.'),
    seen: texts('Nor these.'),
    caps: list(CountedCap, 'Nor what is had often enough.'),
    drawn: optional(one(Clause), 'In drawn places none but these.'),
  },
);

const DiversityCap = record(
  'DiversityCap',
  'catalogue::DiversityCap',
  'Items of an answer that share a value of a text attribute, at most.',
  { attribute: text(), maxItems: u32('At least 1.', 'to.items_max') },
);

const ItemPolicy = record(
  'ItemPolicy',
  'catalogue::ItemPolicyRequest',
  'How items of a SID are chosen (docs/concepts/answers.md).',
  {
    orderBy: text("A number attribute, highest first; '' for the priority of the items."),
    diversity: list(DiversityCap),
  },
);

const TermWeight = record('TermWeight', 'catalogue::TermWeight', '', {
  term: text('Name of a term of the valuation.'),
  weight: f64('In place of its own.'),
});

const ValuationUse = record(
  'ValuationUse',
  'catalogue::ValuationUse',
  'By which valuation items go (docs/concepts/value.md).',
  {
    name: text("Of one that catalogueValue() gave; '': by score alone."),
    scoreWeight: f64('In place of its own; NaN: as it is.'),
    floor: f64('The same.'),
    weights: list(TermWeight),
  },
);

const ReachRequest = record('ReachRequest', 'catalogue::ReachRequest', '', {
  eligibility: one(Eligibility),
  itemPolicy: one(ItemPolicy),
  valuation: one(ValuationUse),
});

const TermFunction = words(
  'TermFunction',
  'TERM_FUNCTIONS',
  ['identity', 'log', 'log1p', 'clamp'],
  { doc: 'Functions of an attribute in a term.', cpp: 'catalogue::TermFunction' },
);

const Term = record('Term', 'catalogue::Term', 'A summand of a value: weight * f(attribute).', {
  name: text('Unique in its valuation.'),
  attribute: text('A number.'),
  function: choice(TermFunction),
  weight: f64(),
  min: f64('Of clamp; minus infinity: no bound.'),
  max: f64('Of clamp; infinity: no bound.'),
  byDefault: f64('Stands for the attribute of items without it; NaN: they are excluded.'),
});

const HeadTerm = record(
  'HeadTerm',
  'catalogue::HeadTerm',
  'A summand of a ranked value: weight * f(number of a head). No search knows it.',
  {
    name: text('Unique in its valuation.'),
    head: text('Name of the head.'),
    function: choice(TermFunction),
    weight: f64(),
    min: f64('Lower bound of clamp; minus infinity: none.'),
    max: f64('Upper bound of clamp; infinity: none.'),
  },
);

const Valuation = record(
  'Valuation',
  'catalogue::Valuation',
  'The value of an item: score_weight * score + its terms.',
  {
    name: text('Unique in the catalogue.'),
    scoreWeight: f64('At least 0.'),
    terms: list(Term),
    headTerms: list(HeadTerm),
    floor: f64('Items of a lower value are not to be had; minus infinity: none.'),
    bid: text("Name of the term that is the bid; '': none."),
    pace: text("Text attribute whose paces lower the bid; '': none."),
  },
);

const ValueRequest = record('ValueRequest', 'catalogue::ValueRequest', '', {
  valuations: list(Valuation),
});

export default {
  numbers: [
    numbers('REACH_LIMITS', 'Of what a request may say about its items; both sides check them.', {
      clauseDepth: number(16, 'catalogue::kPredicateDepthMax'),
      clauses: number(256, 'catalogue::kPredicateClausesMax'),
      values: number(4096, 'catalogue::kPredicateValuesMax'),
      predicateTextBytes: number(1 << 18, 'catalogue::kPredicateTextBytesMax'),
      listItems: number(65536, 'catalogue::kItemListMax'),
      frequencyCaps: number(8, 'catalogue::kFrequencyCapsMax'),
      countedItems: number(1 << 20, 'catalogue::kCountedItemsMax'),
      diversityCaps: number(4, 'catalogue::kDiversityCapsMax'),
      policyTextBytes: number(4096, 'catalogue::kItemPolicyTextBytesMax'),
      valuations: number(8, 'catalogue::kValuationsMax'),
      terms: number(8, 'catalogue::kTermsMax'),
    }),
  ],
  words: [TermFunction],
  packedIn: [ReachRequest, ValueRequest],
};
