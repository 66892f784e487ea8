// Catalogues: how they are built, opened, kept and changed, and what is in them.
import {
  bytes,
  choice,
  codes,
  f32s,
  f64,
  f64s,
  handle,
  list,
  one,
  optional,
  record,
  text,
  texts,
  u32,
  u32s,
  u53,
  words,
} from './fields.mjs';
import { Clause } from './reach.mjs';

export const Verdict = words(
  'Verdict',
  'VERDICTS',
  [
    'returned',
    'pruned',
    'behind-sid-cap',
    'behind-results',
    'not-eligible',
    'not-live',
    'not-in-catalogue',
    'behind-diversity-cap',
    'open',
    'no-value',
    'below-floor',
  ],
  { doc: 'The fate of a watched item.', cpp: 'beam::Verdict' },
);

const CatalogueBuildOptions = record('CatalogueBuildOptions', 'BuildRequest', '', {
  sources: texts(
    'index.json, sid2pid.json, .jsonl or an existing snapshot; the format is detected by content.',
  ),
  domains: texts("Parallel to sources: domain given to all items of the file; '' for none."),
  titlesPath: text("Optional titles file (JSON or TSV); '' for none."),
  levelSizes: u32s('Codes per level; empty: derived from the items.'),
  outputPath: text(),
});

const CatalogueKeepOptions = record('CatalogueKeepOptions', 'catalogue::LiveOptions', '', {
  folder: text('Made where it is missing; what it holds already is gone on from.'),
  sync: choice(
    words('ChangeSync', 'CHANGE_SYNCS', ['commit', 'never'], {
      cpp: 'catalogue::SyncPolicy',
      enumerators: ['kEachCommit', 'kNever'],
    }),
    'When an acknowledged change lies on the device: before it is acknowledged, or whenever.',
  ),
  levelSizes: u32s('Codes per level that changes may use; empty: those of the snapshot.'),
  reserveBytes: u53('Free bytes of the file system below which no change is taken.'),
});

const CatalogueInfo = record('CatalogueInfo', undefined, 'The snapshot that was opened.', {
  digest: text(),
  depth: u32(),
  levelSizes: codes('As changes may use them.'),
  levelPatterns: texts(
    "Token pattern per level as the index file wrote it, e.g. `<a_{code}>`; '' where the codes " +
      'were integers.',
  ),
  nodeCount: u53(),
  pathCount: u53(),
  itemCount: u53(),
  fileBytes: u53(),
});

const mark = text("Newest mark of a batch that the version holds; '' for none.");

const CatalogueState = record('CatalogueState', undefined, '', {
  sequence: u53('Number of the last change in the newest version.'),
  mark,
  baseDigest: text('Of the snapshot that the newest version is made over.'),
  liveItemCount: u53(),
  changedItemCount: u53('Items that differ from the snapshot.'),
  changesSinceSnapshot: u53(),
  snapshotItemCount: u53(),
  replayedChanges: u53('Changes that catalogueKeep() found in its folder.'),
  cutBytes: u53('Of a write that a crash broke off, cut by catalogueKeep().'),
});

const CatalogueDigest = record(
  'CatalogueDigest',
  'catalogue::Digest',
  'The content of a version: equal contents have equal digests.',
  {
    sequence: u53('Number of the last change of the version.'),
    mark,
    digest: text('Of the items that are not removed: 32 hexadecimal digits.'),
  },
);

const CatalogueGeneration = record(
  'CatalogueGeneration',
  'catalogue::Generation',
  'A snapshot and its log. Each version of it can be gone back to.',
  { firstSequence: u53(), lastSequence: u53(), logBytes: u53(), baseDigest: text() },
);

const cappedItems = u32(
  'Items of the version that frequency caps alone keep out.',
  'capped_items(*from.reach)',
);

const CatalogueReach = record('CatalogueReach', 'OpenedReach', '', {
  reach: handle('ReachHandle'),
  sequence: u53('Number of the last change of its version.', 'from.reach->reach.view().sequence()'),
  cappedItems,
});

const explained = (name) => `from.explanation.${name}`;

const CatalogueJudgement = record(
  'CatalogueJudgement',
  'Judgement',
  'The state of an item in a version, before any search.',
  {
    reach: handle('ReachHandle', 'Of that version and the eligibility.'),
    sequence: u53('', 'from.reach->reach.view().sequence()'),
    cappedItems,
    verdict: choice(Verdict, '`open` where the item may be had.', explained('verdict')),
    clause: text('Not eligible: the clause that decides.', explained('clause')),
    notLiveSince: u53('Not live: the change since which.', explained('sequence')),
    item: u32('Ordinal in the version; 0xFFFFFFFF where it has no such item.'),
    sid: codes(),
  },
);

const CatalogueSids = record('CatalogueSids', 'catalogue::SidList', 'SIDs, laid end to end.', {
  offsets: u32s('[n + 1] into codes.'),
  codes: u32s(),
});

const ItemTexts = record('ItemTexts', undefined, '', {
  itemIds: texts(),
  titles: texts(),
  attributes: texts(),
  paused: bytes('1: known, but not recalled.'),
  sequence: u53('Number of the last change of the version.'),
});

const CatalogueListing = record(
  'CatalogueListing',
  undefined,
  'Items of a version as columns, the removed ones left out.',
  {
    ordinals: u32s('Of the version.'),
    itemIds: texts(),
    titles: texts(),
    attributes: texts(),
    priorities: f64s(),
    paused: bytes('1: known, but not recalled.'),
    sidOffsets: u32s('[n + 1] into sidCodes.'),
    sidCodes: u32s(),
    next: u32('Where to go on; 0: that was all.'),
  },
);

const CatalogueBuildReport = record('CatalogueBuildReport', 'TimedBuild', '', {
  itemCount: u53('', 'from.report.item_count'),
  pathCount: u53('', 'from.report.path_count'),
  fileBytes: u53('', 'from.report.file_bytes'),
  seconds: f64(),
  digest: text('', 'from.report.digest'),
});

const ChangeOp = words(
  'ChangeOp',
  'CHANGE_OPS',
  [
    'upsert',
    'pause',
    'resume',
    'remove',
    'set_attributes',
    'set_priority',
    'patch_attributes',
    'set_pace',
  ],
  {
    doc: 'Changes of an item (docs/concepts/live-catalogue.md).',
    cpp: 'catalogue::ChangeKind',
    enumerators: [
      'kUpsert',
      'kPause',
      'kResume',
      'kRemove',
      'kSetAttributes',
      'kSetPriority',
      'kPatchAttributes',
      'kSetPace',
    ],
  },
);

const PatchTexts = record('PatchTexts', 'catalogue::PatchTexts', 'Texts of one attribute.', {
  attribute: text(),
  texts: texts(),
});

const PatchNumber = record('PatchNumber', 'catalogue::PatchNumber', '', {
  attribute: text(),
  delta: f64(),
});

const AttributePatch = record(
  'AttributePatch',
  'catalogue::AttributePatch',
  'Edits of attributes; each attribute is named once at most.',
  {
    set: text("Text of a JSON object: members put in or replaced; '' for none."),
    unset: texts('Taken out, where they are there.'),
    add: list(PatchTexts, 'To sets; one that is not there begins empty.'),
    take: list(PatchTexts, 'From sets.'),
    delta: list(PatchNumber, 'Added to numbers; one that is not there counts as 0.'),
  },
);

const ItemChange = record('ItemChange', 'catalogue::GivenChange', '', {
  op: choice(ChangeOp, '', 'to.kind'),
  itemId: text("'' where `predicate` says which items; of set_pace the text."),
  sid: codes('Of upsert; another SID than before moves the item.'),
  title: text('Of upsert; of set_pace the attribute.'),
  attributes: text("Of upsert and set_attributes: text of a JSON object; '' for none."),
  priority: f64('Of upsert and set_priority; of set_pace the factor.'),
  predicate: optional(
    one(Clause),
    'Of pause, resume, remove, patch_attributes, where no `itemId` says which items.',
  ),
  patch: one(AttributePatch, 'Of patch_attributes.'),
  vector: f32s('Of upsert, where there is no `sid`: it becomes that of these numbers.'),
});

const CatalogueAppraisal = record(
  'CatalogueAppraisal',
  'Appraisal',
  'Items of a reach under its valuation, without their scores.',
  {
    scoreWeight: f64('As the request has it.'),
    floor: f64('The same; minus infinity: none.'),
    bid: u32('Index of the term that is the bid; 0xFFFFFFFF: none.'),
    names: texts('Names of the terms, those of heads last.'),
    terms: f64s('Weighted, per item those in `names`; NaN: the item is excluded by it.'),
    paces: f64s('Per item: the factor of its bid; 1: none.'),
    sums: f32s(
      'Per item: what its value has beside scoreWeight * score; -infinity: excluded, NaN: unknown.',
    ),
    headSums: f64s('Sum of the terms of heads per item; NaN: excluded. Empty without heads.'),
  },
);

const AppliedChanges = record('AppliedChanges', 'catalogue::Applied', '', {
  sequence: u53('Number of the last change, or of the version that the batch left as it was.'),
  changeCount: u32('Changes of single items that it came to, each of which has a number.'),
  matched: u32s('Per change with a predicate, in order: items that it let pass.'),
  paced: u32s('Per change of a pace, in order: items that have its text.'),
  placed: one(CatalogueSids, 'Per change with a vector, in order: its SID.'),
  unvalued: texts('Live items of the changes that a valuation excludes, e.g. by their bid.'),
});

const CodebookLayer = record('CodebookLayer', 'catalogue::GivenLayer', 'Of an encoder.', {
  weights: f32s('(outputs, inputs)'),
  bias: f32s('(outputs)'),
});

const CodebookLevel = record('CodebookLevel', 'catalogue::GivenLevel', '', {
  values: f32s('(codes, numbers of a code)'),
});

const GivenCodebooks = record(
  'GivenCodebooks',
  'catalogue::GivenCodebooks',
  'Codebooks that give vectors their codes (docs/concepts/semantic-ids.md).',
  {
    dimension: u32('Of vectors.'),
    capacity: u32('Items that a SID takes.'),
    encoder: list(CodebookLayer, 'Before the codes; empty: none.'),
    levels: list(CodebookLevel),
  },
);

const CatalogueLanding = record(
  'CatalogueLanding',
  undefined,
  'Where a vector would go, and the live items that share most codes with it first.',
  {
    sequence: u53('Number of the last change of the version.'),
    codes: codes('The nearest, whether there is room or not.'),
    distances: f64s('Per level, squared; of numbers that are float32.'),
    sid: codes('That an item would take; empty: none has room.'),
    itemIds: texts(),
    titles: texts(),
    sidOffsets: u32s('[n + 1] into sidCodes.'),
    sidCodes: u32s(),
    sharedLevels: u32s('Per item: first codes that it has in common with `codes`.'),
  },
);

const DeclaredType = words('DeclaredType', 'DECLARED_TYPES', ['text', 'set', 'number', 'untyped'], {
  doc: 'Types of an attribute (docs/concepts/eligibility.md).',
  cpp: 'catalogue::DeclaredType',
});

const AttributeDeclaration = record(
  'AttributeDeclaration',
  'catalogue::AttributeDeclaration',
  'An attribute that items may have.',
  {
    name: text(),
    type: choice(DeclaredType),
    values: texts('Of a text or a set; empty: any.'),
  },
);

const AttributeDeclarations = record('AttributeDeclarations', undefined, 'All there may be.', {
  attributes: list(AttributeDeclaration),
});

const ChangeMessage = record('ChangeMessage', undefined, 'A part of a batch of changes.', {
  changes: list(ItemChange),
});

export default {
  words: [ChangeOp, DeclaredType],
  packedIn: [ChangeMessage, AttributeDeclarations, GivenCodebooks],
  read: [CatalogueBuildOptions, CatalogueKeepOptions],
  written: [
    AppliedChanges,
    CatalogueInfo,
    CatalogueState,
    CatalogueDigest,
    CatalogueGeneration,
    CatalogueReach,
    CatalogueJudgement,
    CatalogueSids,
    ItemTexts,
    CatalogueListing,
    CatalogueLanding,
    CatalogueAppraisal,
    CatalogueBuildReport,
  ],
};
