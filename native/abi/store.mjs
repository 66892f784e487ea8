// The ordered store (native/src/store). What storeRead takes and gives lies in words and bytes of a
// form of its own (native/ts/store-abi.ts).
import { bytes, choice, flag, record, text, u32s, u53, words } from './fields.mjs';

const StoreBatch = record(
  'StoreBatch',
  undefined,
  'Counts whole or not at all; what is put comes after what is erased.',
  {
    erasedOffsets: u32s(),
    erased: bytes(),
    keyOffsets: u32s(),
    keys: bytes(),
    valueOffsets: u32s(),
    values: bytes(),
    durability: choice(
      ['process', 'machine'],
      'What it survives when the call has returned: the end of the process, or of the machine.',
    ),
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

export default { read: [StoreBatch, StoreOpenOptions], written: [StoreState, StoreRepair] };
