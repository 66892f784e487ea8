/** Folders of models as today's libraries save them, and what people do to them. */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { EmbeddingModels } from '@tessera/embedding';
import { refuseNoModel } from '@tessera/files';
import { isCrossEncoder, loadRelevance } from '@tessera/relevance';
import { TEXT_LIMITS, temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { compareFolder } from './compare-folder.js';

const FIXTURES = 'test/fixtures/folders';
const POINTER = 'version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1192135096\n';
/** Contents that downloads and editors leave in the place of a file, and their names. */
const FOREIGN: readonly (readonly [Buffer, RegExp])[] = [
  [Buffer.from(POINTER), /a Git LFS pointer to it \(git lfs pull\)/],
  [Buffer.from('# xet version 0\nfilesize = 9\n'), /a Xet pointer/],
  [Buffer.from('<!DOCTYPE html>\n<html></html>'), /got HTML/],
  [Buffer.from('<?xml version="1.0"?><Error/>'), /got XML/],
  [gzipSync('{}'), /got gzip/],
  [Buffer.from('PK\u0003\u0004      '), /got zip/],
  [Buffer.from('GGUF      '), /got GGUF/],
  [Buffer.from('\uFEFF{"a": 1}', 'utf16le'), /got UTF-16/],
];

const made: { remove(): void }[] = [];
afterAll(() => {
  for (const folder of made) folder.remove();
});

function copyOf(name: string): string {
  const folder = temporaryFolder({});
  made.push(folder);
  const path = join(folder.path, 'model');
  cpSync(join(FIXTURES, name), path, { recursive: true });
  return path;
}

type Members = Record<string, unknown>;

/** A copy with members of a JSON file changed; one that is undefined goes. */
function changed(name: string, file: string, change: Members): string {
  const path = copyOf(name);
  edit(join(path, file), change);
  return path;
}

function edit(path: string, change: Members): void {
  const document = JSON.parse(readFileSync(path, 'utf8')) as Members;
  writeFileSync(path, JSON.stringify(Object.assign(document, change)));
}

describe('a folder as it was saved', () => {
  it.each(readdirSync(FIXTURES))(
    'has the numbers of the library that saved it: %s',
    async (name) => {
      expect(await compareFolder(join(FIXTURES, name))).toEqual({ verdict: 'equal', detail: '' });
    },
  );

  it('may have its encoder in a folder of its own', async () => {
    const path = copyOf('qwen3-model');
    const own = join(path, '0_Transformer');
    mkdirSync(own);
    const moved = readdirSync(path).filter((file) => /^(config|model|token|sentence)/.test(file));
    for (const file of moved) renameSync(join(path, file), join(own, file));
    const modules = JSON.parse(readFileSync(join(path, 'modules.json'), 'utf8'));
    writeFileSync(
      join(path, 'modules.json'),
      JSON.stringify([{ ...modules[0], path: '0_Transformer' }, ...modules.slice(1)]),
    );
    expect(await compareFolder(path)).toMatchObject({ verdict: 'equal' });
  });

  it.each([
    ['sbert_ce_default_activation_function', 'torch.nn.modules.linear.Identity'],
    ['sentence_transformers', { activation_fn: 'torch.nn.modules.linear.Identity' }],
  ])('may name its activation as older libraries do: %s', async (field, value) => {
    const path = changed('bert-reranker', 'config.json', { [field]: value });
    edit(join(path, 'config_sentence_transformers.json'), { activation_fn: null });
    expect(await compareFolder(path)).toMatchObject({ verdict: 'equal' });
  });

  it.each([
    ['bert-reranker', ['BertModel', 'BertForSequenceClassification']],
    ['mistral-generator', ['MistralForCausalLM', 'MistralModel']],
    ['bert-prompts', []],
  ])('may list several architectures, or none: %s', async (name, architectures) => {
    const path = changed(name, 'config.json', { architectures });
    expect(await compareFolder(path)).toMatchObject({ verdict: 'equal' });
  });

  it('says at the start what other releases would do otherwise', async () => {
    const eos = { add_eos_token: false, my_setting: 1 };
    const path = changed('qwen3-model', 'tokenizer_config.json', eos);
    const specs = [{ name: 'q', path }];
    const models = await EmbeddingModels.open({ specs, computeType: 'f32', limits: TEXT_LIMITS });
    models.close();
    expect(models.notes).toEqual([
      expect.stringMatching(/embedding model q: .*add_eos_token is false, tokenizer.json adds one/),
      expect.stringMatching(/fields that are not read: my_setting/),
    ]);
  });
});

it('tells where the texts of a model with a window end', async () => {
  const path = changed('qwen3-model', 'config.json', {
    use_sliding_window: true,
    max_window_layers: 0,
    sliding_window: 3,
    layer_types: undefined,
  });
  const specs = [{ name: 'q', path }];
  const models = await EmbeddingModels.open({ specs, computeType: 'f32', limits: TEXT_LIMITS });
  models.close();
  expect(models.notes).toEqual([expect.stringContaining('texts end at 3 tokens')]);
});

describe('a folder with a chat template', () => {
  it('has no such thing around its texts, and says so where its own library would', async () => {
    const path = changed('mistral-generator', 'tokenizer_config.json', {
      chat_template: '{{ m }}',
    });
    const specs = [{ name: 'm', path }];
    const models = await EmbeddingModels.open({ specs, computeType: 'f32', limits: TEXT_LIMITS });
    models.close();
    expect(models.notes).toEqual([expect.stringContaining('the chat template is not put around')]);
  });
});

describe('prompts of a folder', () => {
  it('stand before texts by their names, and one by default', async () => {
    const specs = [{ name: 'p', path: join(FIXTURES, 'bert-prompts') }];
    const models = await EmbeddingModels.open({ specs, computeType: 'f32', limits: TEXT_LIMITS });
    const embed = async (text: string, promptName?: string) =>
      (await models.embed({ model: '', texts: [text], dimensions: undefined, promptName })).vectors;
    const bare = await embed('query: shoes', 'document');
    expect(await embed('shoes')).toEqual(bare);
    expect(await embed('shoes', 'query')).toEqual(bare);
    expect(await embed('shoes', 'passage')).not.toEqual(bare);
    await expect(embed('shoes', 'nonsense')).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'promptName',
    });
    expect(models.notes).toEqual(['embedding model p: prompts: passage, query; by default: query']);
    models.close();
  });
});

describe('a folder that contradicts itself, or asks for what is not done', () => {
  const TOKENIZER = 'tokenizer_config.json';
  const MODULE = 'sentence_bert_config.json';
  const MODEL = 'config_sentence_transformers.json';
  const CUT_LEFT = { direction: 'Left', max_length: 12, strategy: 'LongestFirst', stride: 0 };
  const extra = { 300: { content: '<new>' } };
  it.each<[string, string, Members]>([
    ['bert-prompts', TOKENIZER, { do_lower_case: false, tokenizer_class: 'BertTokenizer' }],
    ['bert-prompts', TOKENIZER, { strip_accents: true, tokenizer_class: 'BertTokenizer' }],
    ['bert-prompts', TOKENIZER, { tokenize_chinese_chars: false, tokenizer_class: undefined }],
    ['modernbert-ettin', TOKENIZER, { tokenizer_class: 'BertTokenizer' }],
    ['xlm-roberta-reranker', TOKENIZER, { tokenizer_class: 'XLMRobertaTokenizer' }],
    ['xlm-roberta-reranker', TOKENIZER, { tokenizer_class: 'LlamaTokenizerFast' }],
    ['roberta-truncated', TOKENIZER, { add_prefix_space: true }],
    ['qwen3-model', TOKENIZER, { truncation_side: 'left' }],
    ['qwen3-model', 'tokenizer.json', { truncation: CUT_LEFT }],
    ['qwen3-model', TOKENIZER, { split_special_tokens: true }],
    ['qwen3-model', TOKENIZER, { added_tokens_decoder: extra }],
    ['qwen3-model', MODULE, { do_lower_case: true }],
    ['qwen3-model', MODULE, { processing_kwargs: { text: { max_length: 5 } } }],
    ['qwen3-model', MODULE, { transformer_task: 'text-generation' }],
    ['qwen3-model', MODULE, { modality_config: { text: {}, message: {} } }],
    ['qwen3-model', MODULE, { tokens_to_skip: 3 }],
    ['qwen3-model', MODEL, { default_prompt_name: 'nothing' }],
    ['qwen3-model', MODEL, { truncate_dim: 'all' }],
    ['qwen3-model', MODEL, { model_type: 'SparseEncoder' }],
    ['qwen3-model', MODEL, { query_prefix: '[Q] ' }],
    ['bert-reranker', MODEL, { activation_fn: 'torch.nn.modules.activation.ReLU' }],
    ['bert-reranker', MODEL, { prompts: { q: 'q: ' }, default_prompt_name: 'q' }],
    ['qwen3-reranker', 'config.json', { use_bidirectional_attention: true }],
    ['bert-prompts', '2_Normalize/config.json', { module_input_name: 'token_embeddings' }],
  ])('is refused by the field: %s, %s, %j', async (name, file, change) => {
    const { verdict, detail } = await compareFolder(changed(name, file, change));
    expect(verdict, detail).toBe('refused');
    expect(Object.keys(change).some((field) => detail.includes(field))).toBe(true);
    expect(detail).toContain(file);
  });

  it.each([
    'model.safetensors',
    'tokenizer.json',
    'tokenizer_config.json',
    'config.json',
    'modules.json',
    'config_sentence_transformers.json',
    '1_Pooling/config.json',
  ])('is refused where %s is another kind of file, which is named', async (file) => {
    const path = copyOf('bert-prompts');
    for (const [content, name] of FOREIGN) {
      writeFileSync(join(path, file), content);
      const { verdict, detail } = await compareFolder(path);
      expect(verdict, detail).toBe('refused');
      expect(detail).toContain(`${join(path, file)}: expected the file, got `);
      expect(detail).toMatch(name);
    }
  });

  it('may have texts that begin with a byte order mark', async () => {
    const path = copyOf('bert-prompts');
    for (const file of ['tokenizer.json', 'tokenizer_config.json', 'config.json', 'modules.json']) {
      writeFileSync(join(path, file), `\uFEFF${readFileSync(join(path, file), 'utf8')}`);
    }
    expect(await compareFolder(path)).toEqual({ verdict: 'equal', detail: '' });
  });

  it('is refused where it is a reranker whose config.json is such a pointer', async () => {
    const path = copyOf('bert-reranker');
    writeFileSync(join(path, 'config.json'), POINTER);
    await expect(isCrossEncoder(path)).rejects.toThrow(/config.json: .* \(git lfs pull\)/);
  });

  it('is refused with the way out where its weights are pickled', async () => {
    const path = copyOf('bert-prompts');
    renameSync(join(path, 'model.safetensors'), join(path, 'pytorch_model.bin'));
    const { detail } = await compareFolder(path);
    expect(detail).toMatch(/pytorch_model.bin: expected model.safetensors, got pickled weights/);
    expect(detail).toContain('save_pretrained');
  });

  it('is told apart from the root of a cache, and from a model with an adapter', async () => {
    const path = copyOf('bert-prompts');
    const root = join(dirname(path), 'models--a--b');
    cpSync(path, join(root, 'snapshots', '0123abcd'), { recursive: true });
    cpSync(join(path, 'expected.json'), join(root, 'expected.json'));
    const { detail } = await compareFolder(root);
    expect(detail).toContain(`(${join(root, 'snapshots', '0123abcd')}), got the root of a cache`);
    // The folder above it, an empty one, and one for other programs.
    renameSync(join(path, 'expected.json'), join(dirname(path), 'expected.json'));
    const above = await compareFolder(dirname(path));
    expect(above.detail).toContain(`(${join(root, 'snapshots', '0123abcd')}), got the root`);
    await expect(refuseNoModel(mkdtempSync(join(root, 'empty-')), 'IO_FAILED')).rejects.toThrow(
      /expected the folder of a model, got an empty folder/,
    );
    const gguf = temporaryFolder({ 'model.Q4_K_M.gguf': 'GGUF' });
    made.push(gguf);
    await expect(refuseNoModel(gguf.path, 'IO_FAILED')).rejects.toThrow(/got GGUF alone/);
    renameSync(join(dirname(path), 'expected.json'), join(path, 'expected.json'));
    writeFileSync(join(path, 'adapter_config.json'), '{}');
    expect((await compareFolder(path)).detail).toMatch(/adapter_config.json: expected no adapter/);
  });

  it('is no classifier of pairs where a language model judges', async () => {
    const path = copyOf('modernbert-ettin');
    const file = join(path, 'modules.json');
    const text = readFileSync(file, 'utf8').replaceAll(
      /[a-z_.]*Pooling"/g,
      'sentence_transformers.cross_encoder.modules.logit_score.LogitScore"',
    );
    writeFileSync(file, text);
    expect(await isCrossEncoder(path)).toBe(false);
    // Nor has it the form of Qwen3-Reranker, whatever its vocabulary.
    const judge = temporaryFolder({});
    made.push(judge);
    cpSync('test/fixtures/relevance', judge.path, { recursive: true });
    await expect(loadRelevance(judge.path)).resolves.toMatchObject({
      template: { name: 'qwen3-reranker' },
    });
    writeFileSync(join(judge.path, 'modules.json'), text);
    await expect(loadRelevance(judge.path)).rejects.toThrow(/relevance.json .* LogitScore/);
  });
});
