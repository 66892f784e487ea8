// Runs of `npm run test:long`.

// Folder of native/src, target and words of each: minutes, not seconds.
export const LONG_RUNS = [
  ['store', 'store_fault_test', '--cases=1000', '--cycles=100'],
  ['store', 'store_damage_test', '--cases=1000'],
  ['catalogue', 'catalogue_kill_test', '--kills=200'],
  ['catalogue', 'live_damage_test', '--cases=1000'],
  ['beam', 'live_test', '--seeds=5000'],
  ['beam', 'live_eligibility_test', '--seeds=5000'],
  ['beam', 'live_threads_test', '--seeds=50'],
  ['kv', 'kv_sim_test', '--seeds=1000'],
  ['kv', 'kv_sharing_test', '--seeds=1000'],
  ['kv', 'kv_kill_test', '--kills=200'],
  ['kv', 'kv_disk_damage_test', '--cases=1000'],
  ['engine', 'kv_transparency_test', '--seeds=300'],
];

// The same of programs under sanitizers.
export const LONG_FUZZES = [['abi', 'packed_fuzz', '1000000']];

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
  ['folders', '--seed', '7'],
  ['fuzz', '--rounds', '25000', '--seed', '1'],
];
