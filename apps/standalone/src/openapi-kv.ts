/** Operations on the user KV pool; field for field the JSON form of tessera.kv.v1. */

import { integer, list, number, object, reference, text, texts } from './openapi-fields.js';

const userId = { oneOf: [{ type: 'string' }, { type: 'integer' }] };

export const KV_SCHEMAS = {
  KvInspectRequest: object({ userId }),
  KvInspectResponse: object({
    chains: list(reference('KvChain'), 'one per version of prompts'),
  }),
  KvChain: object({
    version: text('digest of model, arithmetic, template, codebook and layout'),
    isRetired: { type: 'boolean', description: 'nothing is found under the version any more' },
    seq: number('of its newest change'),
    tokens: number('without those of the static text that all users share'),
    prefixTokens: number('of that static text'),
    deviceTokens: number('on the device'),
    hostTokens: number('in the memory of the host'),
    diskTokens: number('on disk'),
    durableTokens: number('what a restart would find'),
    unusedUs: number('microseconds since it was last looked up or changed'),
    versionsBack: number('versions between the one that computed its front and this one'),
  }),
  KvDropUserRequest: object({ userId, deadlineMs: integer('milliseconds to wait for the disk') }),
  KvDropVersionRequest: object({ version: text('digest, as inspect tells it') }),
  KvIntegrity: object({
    chains: number('users and static texts'),
    blocks: number('of them'),
    checkedDiskBlocks: number('read and compared with their checksums'),
    corruptDiskBlocks: number('of these, given up'),
    unreadableDiskBlocks: number('that could not be read'),
    faults: list({ type: 'string' }, 'of the accounts; empty unless there is a bug'),
  }),
  KvAppendRequest: object({
    requestId: text('echoed; made by the service when absent'),
    userId,
    profile: texts('profile of the user, for the slots of the prompt template'),
    deadlineMs: integer('milliseconds that it may take'),
  }),
  KvAppendResponse: object({
    requestId: text('ID of the request'),
    historyItems: number('history items in the prompt'),
    trimmedItems: number('oldest history items left out for want of room'),
    skippedItems: number('history items that the catalogue does not know'),
    keptTokens: number('tokens that the next prompt of the user can begin with'),
    kv: reference('KvProvenance'),
  }),
  Empty: object({}),
};

const OPERATIONS = [
  ['inspect', 'KvInspectRequest', 'KvInspectResponse', 'What is kept of a user'],
  ['drop-user', 'KvDropUserRequest', 'Empty', 'Forget a user everywhere'],
  ['drop-version', 'KvDropVersionRequest', 'Empty', 'Find nothing under a version any more'],
  ['check-integrity', 'Empty', 'KvIntegrity', 'Read and check every block on disk'],
  ['append', 'KvAppendRequest', 'KvAppendResponse', 'Keep a user without a recall'],
] as const;

export function kvPaths(json: (schema: string) => object, failures: object): object {
  return Object.fromEntries(
    OPERATIONS.map(([name, request, response, summary]) => [
      `/v1/kv/${name}`,
      {
        post: {
          operationId: `kv-${name}`,
          summary,
          requestBody: { required: true, content: json(request) },
          responses: { 200: { description: summary, content: json(response) }, ...failures },
        },
      },
    ]),
  );
}
