/** Folders of models as today's libraries save them, and what people do to them. */

import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EmbeddingModels } from '@tessera/embedding';
import { isCrossEncoder, loadRelevance } from '@tessera/relevance';
import { TEXT_LIMITS, temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { compareFolder } from './compare-folder.js';

const FIXTURES = 'test/fixtures/folders';
const POINTER = 'version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1192135096\n';

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
  ])('is refused where %s is a pointer of Git LFS', async (file) => {
    const path = copyOf('bert-prompts');
    writeFileSync(join(path, file), POINTER);
    const { verdict, detail } = await compareFolder(path);
    expect(verdict, detail).toBe('refused');
    expect(detail).toContain(`${join(path, file)}: expected the file, got a Git LFS pointer`);
    expect(detail).toContain('git lfs pull');
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
