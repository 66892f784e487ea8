/** The OpenAPI document: valid by itself, and able to refuse what it does not describe. */

import { Validator } from '@seriousme/openapi-schema-validator';
import { ERROR_TABLE, UNREAD_REQUESTS } from '@tessera/errors';
import { expect, it } from 'vitest';
import { ANSWER_SCHEMAS } from '../../apps/console/src/generated/answer-schemas.js';
import { consoleDocument, openApiDocument } from '../../apps/standalone/src/openapi.js';
import { answerTo } from '../integration/fake-runtime.js';
import { OpenApiCheck } from '../integration/openapi-check.js';
import { ROUTE_RULES } from './access-rules.js';

const check = new OpenApiCheck();
const recalls = check.operation('POST', '/v1/recall');
const answers = recalls?.responses[200]?.content?.['application/json']?.schema ?? {};
const request = { requestId: 'r', userId: '1', profile: {}, scene: {}, skipUnknownItems: false };
const given = answerTo({ ...request, resultCount: 1, widths: [], itemsPerSid: 1 });
const items = given.items.map((item) => ({ ...item, attributes: { bid: 1 } }));
const answer = { ...given, items };

it.each([
  ['for servers', openApiDocument('1')],
  ['of the console', consoleDocument('1')],
])('the document %s is OpenAPI 3.0', async (_, document) => {
  const { valid, errors } = await new Validator().validate(document as never);
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
});

it('has an operation for every route that answers about data', () => {
  const pages = /^\w+ \/(docs|docs-json|console)(\/(?!api)|$)/;
  // Of a gateway (docs/operate/cluster.md), which has no document of its own.
  const gateways = / \/v1\/cluster/;
  const undescribed = Object.keys(ROUTE_RULES).filter((route) => {
    const [method = '', path = ''] = route.split(' ');
    if (pages.test(route) || gateways.test(route)) return false;
    return check.operation(method, path.replaceAll(/:\w+/g, 'x')) === undefined;
  });
  expect(undescribed).toEqual([]);
});

it('the document for servers has nothing of the console, and every status of errors', () => {
  const { paths, servers } = openApiDocument('1') as {
    paths: Record<string, Record<string, { operationId?: string; responses: object }>>;
    servers: readonly object[];
  };
  expect(servers).toEqual([{ url: '/' }]);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method} ${path}`,
      operation,
    })),
  );
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const rows = [...Object.values(ERROR_TABLE), ...Object.values(UNREAD_REQUESTS)];
  const statuses = [...new Set(rows.map(({ http }) => `${http}`))];
  for (const { route, operation } of operations) {
    expect(route).not.toContain('/console');
    if (/\/(health|metrics)/.test(route)) continue;
    expect(Object.keys(operation.responses).sort(), route).toEqual(['200', ...statuses].sort());
  }
});

it('a request may name who is eligible, by clauses that the document knows', () => {
  const asked = recalls?.requestBody?.content?.['application/json']?.schema ?? {};
  const eligible = (predicate: object) => ({ userId: 'a', eligibility: { predicate } });
  expect(check.faults(asked, eligible({ not: { attribute: 'labels', contains: ['x'] } }))).toBe('');
  expect(check.faults(asked, eligible({ attribute: 'labels', includes: ['x'] }))).not.toBe('');
});

it('an answer is what it says', () => {
  expect(check.faults(answers, answer)).toBe('');
});

it('a field that the document does not know is a fault, at any depth', () => {
  expect(check.faults(answers, { ...answer, when: 1 })).not.toBe('');
  const versions = { ...answer.versions, when: 1 };
  expect(check.faults(answers, { ...answer, versions })).not.toBe('');
});

it('a request may name an adapter', () => {
  const asked = recalls?.requestBody?.content?.['application/json']?.schema ?? {};
  expect(check.faults(asked, { userId: 1, adapter: 'base' })).toBe('');
  expect(check.faults(asked, { userId: 1, adaptor: 'base' })).not.toBe('');
});

it('every answer of the console has a schema, but for files, lines and ways to elsewhere', () => {
  const root = '/console/api/';
  const document = consoleDocument('1') as Parameters<typeof consoleOperations>[0];
  const without = consoleOperations(document).filter(({ hasSchema }) => !hasSchema);
  expect(without.map(({ name }) => name).sort()).toEqual([
    'get exports/{id}/file',
    'get login/oidc/return',
    'post comparisons',
  ]);
  const named = consoleOperations(document).map(({ name }) => name);
  expect(named).toEqual(expect.arrayContaining(Object.keys(ANSWER_SCHEMAS)));

  function consoleOperations({ paths }: { paths: Record<string, Record<string, never>> }) {
    return Object.entries(paths)
      .filter(([path]) => path.startsWith(root))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => ({
          name: `${method} ${path.slice(root.length)}`,
          hasSchema: check.operation(method, path)?.responses[200]?.content !== undefined,
        })),
      );
  }
});
