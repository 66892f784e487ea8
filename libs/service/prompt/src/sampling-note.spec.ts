import { samplingNote } from '@tessera/prompt';
import { temporaryFolder } from '@tessera/testing';
import { expect, it } from 'vitest';

async function noteOf(files: Record<string, unknown>): Promise<string | undefined> {
  const folder = temporaryFolder(files);
  return samplingNote(folder.path).finally(folder.remove);
}

it('names settings of generation that a recall does not follow', async () => {
  const sampled = { do_sample: true, temperature: 0.7, top_k: 20, repetition_penalty: 1.05 };
  const settings = Object.assign({ eos_token_id: [9, 8], pad_token_id: 8 }, sampled);
  const files = { 'generation_config.json': settings, 'config.json': { eos_token_id: 9 } };
  expect(await noteOf(files)).toBe(
    'generation_config.json: temperature 0.7, top_k 20, repetition_penalty 1.05, ' +
      'eos_token_id [9,8]: not used, recalls take the likeliest paths',
  );
});

it('says nothing where nothing would be otherwise', async () => {
  const settings = { eos_token_id: 9, temperature: 1, top_p: null, transformers_version: '5.0' };
  const config = { 'config.json': { eos_token_id: 9 } };
  expect(await noteOf({ ...config, 'generation_config.json': settings })).toBeUndefined();
  expect(await noteOf(config)).toBeUndefined();
  expect(await noteOf({ 'generation_config.json': '[' })).toBeUndefined();
});
