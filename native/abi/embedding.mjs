// Models of texts: how they are opened, what they say of themselves.
import { choice, f32s, f64, flag, record, text, u32, u53, words } from './fields.mjs';

const TextComputeType = words(
  'TextComputeType',
  'TEXT_COMPUTE_TYPES',
  ['f32', 'bf16', 'w8a8', 'w8a8-static'],
  {
    doc: 'w8a8-static: w8a8 with measured scales (docs/operate/quantisation.md).',
    cpp: 'model::ComputeType',
    enumerators: ['kF32', 'kBf16', 'kW8A8', 'kW8A8Static'],
  },
);

const EmbedderOptions = record('EmbedderOptions', 'engine::EmbedderOptions', '', {
  modelPath: text('Hugging Face or SentenceTransformers folder.'),
  computeType: choice(TextComputeType),
  threadCount: u32('Compute threads, the calling one included; >= 1.'),
  rowsMax: u32('Tokens of a pass at most.'),
  textsMax: u32('Texts of a pass at most.'),
});

const config = (name) => `from.model().encoder().config().${name}`;

const EmbedderInfo = record('EmbedderInfo', 'engine::Embedder', 'A model of texts.', {
  dimension: u32('Numbers of a vector.', 'from.model().dimension()'),
  tokensMax: u32('Of a text, special ones included.', 'from.tokens_max()'),
  vocabSize: u32('', config('vocab_size')),
  layerCount: u32('', config('layer_count')),
  digest: text('Of encoder and head.', 'from.model().digest()'),
  numbers: text(
    'The settings that decide bits, beside the weights.',
    'from.model().encoder().numbers()',
  ),
  isClassifier: flag(
    'A vector is a row of logits, one per label.',
    'from.model().head().config().is_classifier',
  ),
  isNormalised: flag('Vectors have length 1.', 'from.model().head().is_normalised()'),
  parameterCount: u53('Of the encoder.', 'from.model().encoder().recipe().parameter_count()'),
  rowWork: f64('Multiplications of a token.', 'from.model().encoder().recipe().work().sum.row'),
  pairWork: f64(
    'Multiplications of a token and one that it sees.',
    'from.model().encoder().recipe().work().sum.pair',
  ),
  weightBytes: u53('', 'from.model().encoder().weight_bytes()'),
});

const EmbeddedPass = record('EmbeddedPass', 'engine::EmbeddedPass', 'Results of a pass.', {
  vectors: f32s('[texts][dimension].'),
  computeUs: f64('Microseconds that it computed, without those in which it gave way.'),
});

const MeasuredTexts = record(
  'MeasuredTexts',
  'engine::MeasuredTexts',
  'Results of the measurement.',
  {
    path: text('Of the file of static scales.'),
    rows: u53('Tokens that were measured.'),
  },
);

export default { read: [EmbedderOptions], written: [EmbedderInfo, EmbeddedPass, MeasuredTexts] };
