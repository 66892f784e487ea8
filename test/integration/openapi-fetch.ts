/**
 * Every answer that a test of this folder gets over HTTP is what the OpenAPI document says, and
 * every body that was taken is one that it allows: `fetch` checks it on the way.
 */

import { expect } from 'vitest';

if (expect.getState().testPath?.includes('/test/integration/')) {
  const { OpenApiCheck } = await import('./openapi-check.js');
  const check = new OpenApiCheck();
  check.compileAll();
  const plain = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const reply = await plain(input, init);
    const url = input instanceof Request ? input.url : String(input);
    await check.exchange({ method: init?.method ?? 'GET', url, body: init?.body, reply });
    return reply;
  };
}
