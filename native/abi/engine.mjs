// The engine: how it is opened, what it says of itself.
import {
  choice,
  f64,
  flag,
  i32s,
  list,
  record,
  text,
  texts,
  u32,
  u32s,
  u53,
  words,
} from './fields.mjs';

export const ComputeType = words('ComputeType', 'COMPUTE_TYPES', ['f32', 'bf16', 'w8a8'], {
  doc: 'w8a8: the linear layers in INT8, the rest as in bf16 (docs/operate/quantisation.md).',
  cpp: 'model::ComputeType',
  enumerators: ['kF32', 'kBf16', 'kW8A8'],
});

const EngineOptions = record('EngineOptions', 'engine::EngineOptions', '', {
  modelPath: text('Hugging Face folder: config.json and safetensors.'),
  computeType: choice(ComputeType),
  activationScalesPath: text(
    "File of fixed activation scales for w8a8, as measureScales writes it; '' for none.",
  ),
  headTokens: i32s('Tokens whose logits requests may want; empty: the whole vocabulary.'),
  device: text('That computes: `cpu`, or `cuda:N` for card N of the machine.'),
  threadCount: u32("Compute threads, the engine's own included; >= 1."),
  queueCapacity: u32('Requests waiting or running at most; a further one is refused.'),
  batchRequestsMax: u32('Requests that share forward passes at most.'),
  batchRowsMax: u32('Rows of a forward pass at most; not below widthMax and scoreItemsMax.'),
  prefillChunkTokens: u32('Prompt tokens computed per forward pass at most.'),
  passTimeTargetUs: u32(
    'Microseconds that prompts may make a pass of one request; longer with several, or where ' +
      'passes cost much whatever their rows. 0: not bounded.',
  ),
  batching: choice(
    ['whole', 'continuous'],
    'Requests join a running batch between passes, or wait until it has ended.',
    'to.continuous_batching',
  ),
  kvBytesMax: u53('Of the keys and values of all running requests at most, beams included.'),
  kvPool: choice(['off', 'on'], 'Off: nothing of a prompt is found or kept.', 'to.kv.is_enabled'),
  kvDeviceBytes: u53(
    'Of the device tier, where the prompts of running requests lie as well.',
    'to.kv.device_bytes',
  ),
  kvHostBytes: u53('0: no such tier.', 'to.kv.host_bytes'),
  kvDiskBytes: u53('0: no such tier.', 'to.kv.disk_bytes'),
  kvFolder: text('Of the disk tier; made when absent, one engine at a time.', 'to.kv.folder'),
  kvReadThreads: u32('', 'to.kv.read_threads'),
  kvStoreQueueMax: u32(
    'Users whose new blocks wait to be stored at most; further ones are not stored.',
    'to.kv.store_queue_max',
  ),
  kvPrefetchQueueMax: u32(
    'Users whose blocks wait to be loaded at most; further ones are computed; >= 2.',
    'to.kv.prefetch_queue_max',
  ),
  kvBlockCodec: choice(
    ['exact', 'int8'],
    'How blocks are written in the host and disk tiers; `int8` changes answers.',
    'to.kv.codec',
  ),
  promptTokensMax: u32(),
  widthMax: u32(),
  resultCountMax: u32(),
  scoreItemsMax: u32('Paths of a score request at most.'),
  adapterBytesMax: u53('Of all adapters in memory at most; 0: no request has one.'),
  kvVersionsBackMax: u32(
    'How far back keys and values may come from (engineSucceedAdapter); 0: none does.',
    'to.kv.versions_back_max',
  ),
  kvSharedLinks: i32s(
    'Links of storeLinkOpen to stores that other processes use as well, nearest first.',
    'to.kv.shared_links',
  ),
  kvDiskReserveBytes: u53(
    'Free bytes of the file system of kvFolder below which nothing is stored there.',
    'to.kv.disk_reserve_bytes',
  ),
});

const shapeOf = (config) => ({
  family: text('', `std::string(${config}.family->model_type)`),
  vocabSize: u32('', `${config}.vocab_size`),
  hiddenSize: u32('', `${config}.hidden_size`),
  layerCount: u32('', `${config}.layer_count`),
  encoderLayerCount: u32(
    'Of these, of an encoder before the decoder.',
    `${config}.t5.encoder_layers`,
  ),
  startToken: u32(
    'Of the decoder behind an encoder, once in each prompt; otherwise 0.',
    `${config}.t5.start_token`,
  ),
  maxPositions: u32('', `${config}.max_positions`),
  parameterCount: u53('', `model::Recipe(${config}).parameter_count()`),
});

const ModelShape = record(
  'ModelShape',
  'model::ModelConfig',
  'The shape of a model, from config.json alone.',
  shapeOf('from'),
);

const ModelInfo = record('ModelInfo', 'engine::ServedModel', 'The model that serves.', {
  ...shapeOf('from.config'),
  digest: text(),
  computeType: choice(ComputeType, '', 'std::string_view(from.compute_type)'),
  kvBytesPerPosition: u53('Of the layers that have keys and values.', 'from.position_bytes'),
  slotBytes: u53('Of a row of the search, in all layers.', 'from.slot_bytes'),
  stateBytes: u53(
    'Of a running request, where layers keep a state in the place of keys and values.',
    'from.state_bytes',
  ),
  headSize: u32(
    'Tokens that the head computes: the vocabulary, or what was kept of it.',
    'from.vocabulary.size(from.config.vocab_size)',
  ),
  weightBytes: u53(
    'Of memory that the packed weights take; 0 where a card has them.',
    'from.weight_bytes',
  ),
  instructionSet: text(
    "Instruction set that the kernels were dispatched to: 'amx', 'avx512_bf16', 'avx512', " +
      "'avx2' or 'portable'; or the name of a card.",
    'from.device',
  ),
});

const ScaleMeasurement = record(
  'ScaleMeasurement',
  undefined,
  'Prompts whose activations are measured, and where the scales are written.',
  {
    modelPath: text(),
    outputPath: text(),
    threadCount: u32(),
    keptPerMille: u32('Rows per thousand whose largest magnitude is represented whole.'),
    promptOffsets: u32s('[n + 1] into promptTokens.'),
    promptTokens: i32s(),
  },
);

const UnseenExpert = record(
  'UnseenExpert',
  'model::UnseenExpert',
  'An expert that no measured row chose.',
  { layer: u32(), expert: u32() },
);

const MeasuredScales = record(
  'MeasuredScales',
  'engine::MeasuredScales',
  'Results of the measurement.',
  {
    rows: u53(),
    unseen: list(UnseenExpert, "Their scale is the largest of their layer's other experts."),
  },
);

const BindingOptions = record(
  'BindingOptions',
  undefined,
  "How the levels of a catalogue are written in the model's vocabulary.",
  {
    levelOffsets: u32s(
      "[levels + 1]: level l's token IDs are levelTokens[levelOffsets[l] .. levelOffsets[l + 1]).",
    ),
    levelTokens: i32s('Token ID of each code; -1 where the vocabulary has no token for the code.'),
    terminalTokens: i32s('Tokens that end every path, in order; may be empty.'),
    templateDigest: text(
      "Of the content that decides a prompt's tokens: keys and values are kept under these names.",
    ),
    codebookDigest: text(),
  },
);

const SubmitOutcome = record('SubmitOutcome', 'engine::SubmitOutcome', '', {
  accepted: u32('Requests accepted from the front of the batch.'),
  reason: choice(
    words('SubmitReason', 'SUBMIT_REASONS', ['none', 'queue-full', 'draining'], {
      doc: 'Why the others were not accepted.',
      cpp: 'engine::Refusal',
    }),
    '',
    'from.refusal',
  ),
  retryAfterUs: u32('Of queue-full: when a place may be free.'),
});

const EngineStats = record(
  'EngineStats',
  'engine::Stats',
  'Counts since the engine was opened; those up to reserved are as of now.',
  {
    queued: u53(),
    running: u53(),
    inFlight: u53('Requests whose completions are still to come.'),
    reserved: u53('Prefetches of tickets whose requests are still being made.'),
    submitted: u53(),
    completed: u53(),
    failed: u53(),
    cancelled: u53(),
    expired: u53(),
    prefillTokens: u53(),
    decodeTokens: u53(),
    forwardPasses: u53(),
    prefixReusedTokens: u53(
      'Prompt tokens that a request took from another one instead of computing them.',
    ),
    rolledBackTokens: u53('Prompt tokens taken back because those they were built on failed.'),
    predictedUs: u53('Microseconds of all passes, as the cost model predicted them.'),
    actualUs: u53('The same as they were.'),
    passUs: f64('Microseconds of a pass whatever its tokens, as the cost model has them now.'),
    tokenUs: f64('The same of a token without context that is computed among others.'),
    tokenPairUs: f64('The same of a token and each token before it.'),
    backlogUs: f64('The same until all requests that are queued or run have ended.'),
    expertRows: u53('Pairs of a row and an expert that it chose, of all layers and passes.'),
    expertPlaces: u53("Rows of the experts' products, what pads them included."),
    expertsTouched: u53('Experts whose weights a layer of a pass read, each counted once.'),
  },
);

const ClassForecast = record(
  'ClassForecast',
  'engine::ClassForecast',
  'For a call of one priority class that is not parsed yet.',
  {
    waitUs: f64('Microseconds until the work ahead of the call is done, safety margin included.'),
    turnUs: f64(
      'Microseconds until the next turn of the class, while demand exceeds capacity; else 0.',
    ),
  },
);

const EngineForecast = record('EngineForecast', 'engine::Forecast', 'As of now.', {
  classes: list(ClassForecast, 'By priority: high, normal, low.'),
});

const WeightsUpdate = record('WeightsUpdate', 'engine::UpdateReport', 'The weights that serve.', {
  digest: text(),
  generation: u53('Updates since the engine was opened.'),
  drainedUs: u53('No request was let in while those that ran came to their end.'),
  swappedUs: u53('No request ran.'),
});

const AdapterLimits = record('AdapterLimits', 'lora::Limits', 'Limits of an adapter.', {
  rankMax: u32('1..128.'),
  normMax: f64('Of any target: Frobenius norm of scale * B * A; above 0.'),
});

const AdapterInfo = record('AdapterInfo', 'LoadedSlot', "An adapter in the engine's arena.", {
  slot: u32('Requests name it by this until it has been released as often as it was loaded.'),
  digest: text(
    'Of what configuration and tensors make of the model, not of names and times.',
    'from.summary.digest',
  ),
  bytes: u53('', 'from.summary.bytes'),
  rankMax: u32('', 'from.summary.rank_max'),
  targetCount: u32('Matrices with low-rank factors.', 'from.summary.target_count'),
  replacedRows: u32(
    'Rows of the embedding and of the head; those of both count once.',
    'from.summary.replaced_rows',
  ),
  largestNorm: f64('', 'from.summary.largest_norm'),
  heads: texts('Names of its heads, in the order of answers.', 'from.summary.heads'),
  isActivated: flag('It changes the rows of ranked items alone.', 'from.summary.is_activated'),
});

const AdapterArena = record('AdapterArena', 'lora::ArenaUse', '', {
  usedBytes: u53(),
  maxBytes: u53(),
  adapters: u32(),
});

const TaskLimits = record(
  'TaskLimits',
  'LaneOptions',
  'Threads of lanes, and calls that wait in each at most (bridge/lane.h).',
  {
    servingThreads: u32('Of each lane that requests wait for.', 'to.serving.threads'),
    servingQueueMax: u32('', 'to.serving.waiting_max'),
    threads: u32(
      'Of each lane of rare and long calls; integrity checks have one.',
      'to.rare.threads',
    ),
    queueMax: u32('', 'to.rare.waiting_max'),
  },
);

const LaneDepth = record('LaneDepth', 'NamedDepth', 'Calls of one kind (bridge/lane.h).', {
  lane: text(),
  waiting: u32('', 'from.depth.waiting'),
  running: u32('', 'from.depth.running'),
});

const StructFields = record('StructFields', 'StructTable', 'A structure that the addon reads.', {
  name: text(),
  fields: texts(),
});

const AbiDescription = record(
  'AbiDescription',
  undefined,
  'The description that the addon was built from.',
  {
    digest: text('Of native/abi.'),
    codes: texts('Of failures, by their number.'),
    functions: texts(),
    structs: list(StructFields),
  },
);

export default {
  read: [EngineOptions, ScaleMeasurement, BindingOptions, AdapterLimits, TaskLimits],
  written: [
    ModelShape,
    ModelInfo,
    SubmitOutcome,
    EngineStats,
    ClassForecast,
    EngineForecast,
    WeightsUpdate,
    UnseenExpert,
    MeasuredScales,
    AdapterInfo,
    AdapterArena,
    LaneDepth,
    StructFields,
    AbiDescription,
  ],
};
