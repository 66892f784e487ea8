import { TesseraError } from '@tessera/errors';
import { expect, it } from 'vitest';
import { namedByKey } from './refused-options.js';

const refused = (field: string) =>
  namedByKey(new TesseraError('REQUEST_INVALID', `${field}: expected 1, got 2`, { field }));

it.each([
  ['engineOpen.options.threadCount', 'engine.threadCount', 'TESSERA_ENGINE_THREAD_COUNT'],
  ['engineOpen.options.kvDiskBytes', 'kv.diskBytes', 'TESSERA_KV_DISK_BYTES'],
  ['engineOpen.options.computeType', 'model.computeType', 'TESSERA_MODEL_COMPUTE_TYPE'],
])('names %s as the key %s', (field, path, variable) => {
  expect(refused(field)).toMatchObject({
    code: 'CONFIG_INVALID',
    field: path,
    message: `${path} (${variable}): expected 1, got 2`,
  });
});

it.each(['catalogue', 'engineOpen.options.ofNobody'])('leaves %s as it is', (field) => {
  expect(refused(field)).toMatchObject({ code: 'REQUEST_INVALID', field });
});
