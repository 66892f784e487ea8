// Runs of `npm run test:long`.

// Folder of native/src, target and variables of each: minutes, not seconds.
export const LONG_RUNS = [
  ['store', 'store_fault_test', { CASES: '1000', CYCLES: '100' }],
  ['store', 'store_damage_test', { CASES: '1000' }],
  ['catalogue', 'catalogue_kill_test', { KILLS: '200' }],
  ['catalogue', 'live_damage_test', { CASES: '1000' }],
  ['beam', 'live_test', { SEEDS: '5000' }],
  ['beam', 'live_eligibility_test', { SEEDS: '5000' }],
  ['beam', 'live_threads_test', { SEEDS: '50' }],
  ['kv', 'kv_sim_test', { SEEDS: '1000' }],
  ['kv', 'kv_sharing_test', { SEEDS: '1000' }],
  ['kv', 'kv_kill_test', { KILLS: '200' }],
  ['kv', 'kv_disk_damage_test', { CASES: '1000' }],
  ['engine', 'kv_transparency_test', { SEEDS: '300' }],
];

// Fuzz test under sanitizers: folder of native/src, target and words.
export const LONG_FUZZ = ['abi', 'packed_fuzz', ['1000000']];

const TRAINER = ['test/e2e/adapters.spec.ts', '-t', 'a trainer that pushes'];
// Name, words and variables of specs.
export const LONG_SPECS = [
  ['adapters pushed for minutes', TRAINER, { TRAINER_SECONDS: '300' }],
  ['erasures that race with recalls', ['test/e2e/erasure.spec.ts'], { LONG_ERASURES: '10000' }],
  ['a disk filled and freed', ['test/e2e/full-disk.spec.ts'], { LONG_DISK_CYCLES: '100' }],
  ['faults of a cluster', ['test/e2e/cluster-faults.system.spec.ts'], { LONG_FAULTS: 'all' }],
  ['peers on PyTorch, where they are installed', ['bench/peers'], { PEERS: 'all' }],
];

// Words of `npm run soak`.
export const LONG_SOAKS = [
  ['trial', '--rounds', '40', '--flood', '1000000'],
  ['trial', '--rounds', '40', '--flood', '1000000', '--store', 'redis'],
  ['days', '--rounds', '10000', '--seed', '1'],
  ['cluster', '--rounds', '100', '--seed', '1'],
  ['worlds', '--rounds', '1000', '--seed', '1'],
  ['mutations', '--seed', '1'],
  ['folders', '--seed', '7'],
  ['fuzz', '--rounds', '25000', '--seed', '1'],
];
