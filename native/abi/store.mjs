// The ordered store (native/src/store). Reads and writes cross as packed records.
import {
  blob,
  blobs,
  choice,
  each,
  entries,
  flag,
  list,
  record,
  text,
  u32,
  u53,
  words,
} from './fields.mjs';

const StoreDirection = words('StoreDirection', 'STORE_DIRECTIONS', ['ascending', 'descending']);

const StoreDurability = words('StoreDurability', 'STORE_DURABILITIES', ['process', 'machine'], {
  doc: 'The end of the process, or of the machine: what a write survives once it has returned.',
});

const StoreRange = record('StoreRange', 'store::Range', 'Keys in [from, to), by their bytes.', {
  from: blob(),
  to: blob(),
  limit: u32('Entries at most.'),
  direction: choice(StoreDirection, 'Descending: from the end of the range.', 'to.descending'),
});

const StoreQuery = record('StoreQuery', 'store::Query', 'Single keys, and ranges of keys.', {
  keys: blobs(),
  ranges: list(StoreRange),
});

const StoreValue = record('StoreValue', 'store::Found', '', {
  isThere: flag('', 'from.values[i].has_value()'),
  value: blob("'' where it is not there.", 'bytes_of(from.values[i])'),
});

const StoreEntries = record('StoreEntries', 'std::vector<store::Entry>', 'Of one range.', {
  entries: entries('', 'from'),
});

const StoreFound = record('StoreFound', 'store::Found', 'Results of a query.', {
  values: each(StoreValue, 'from.values.size()', 'Per key.'),
  ranges: list(StoreEntries, '', 'from.entries'),
});

const StorePut = record('StorePut', 'store::Entry', '', {
  key: blob('', 'to.first'),
  value: blob('', 'to.second'),
});

const StoreBatch = record(
  'StoreBatch',
  'store::Batch',
  'Counts whole or not at all; what is put comes after what is erased.',
  {
    erased: blobs(),
    put: list(StorePut),
    durability: choice(StoreDurability, '', 'to.durable'),
  },
);

const StoreOpenOptions = record('StoreOpenOptions', 'store::StoreOptions', '', {
  path: text('Made where it is missing; for one process.', 'to.folder'),
  reserveBytes: u53('Free bytes of the file system below which nothing is written.'),
});

const StoreState = record('StoreState', 'store::StoreState', '', {
  health: choice(
    words('StoreHealth', 'STORE_HEALTHS', ['ok', 'degraded', 'down'], {
      doc: 'Well; reads work, writes are refused; nothing works.',
      cpp: 'store::Health',
      enumerators: ['kOk', 'kReadOnly', 'kDown'],
    }),
  ),
  reason: text("'' where it is well."),
});

const StoreRepair = record(
  'StoreRepair',
  'store::StoreRepair',
  'Of what is damaged, what can be had (npm run repair).',
  {
    damage: text("'' for nothing: the store is whole."),
    acknowledged: u53('Writes, or number of the newest change, at least.'),
    readable: u53('Of them, from the first on.'),
    isGathered: flag(
      'Of an ordered store: gathered from tables, so that which writes are lost is not known.',
    ),
    keysLeft: u53('Of an ordered store that was damaged.'),
    aside: text("Folder with what was there before; '' where nothing was changed."),
  },
);

export default {
  packedIn: [StoreQuery, StoreBatch],
  packedOut: [StoreFound],
  read: [StoreOpenOptions],
  written: [StoreState, StoreRepair],
};
