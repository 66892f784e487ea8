import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../apps/standalone/src/openapi.js';
import { brokenPromises } from './promises.mjs';

interface Schema {
  required: string[];
  properties: Record<string, { enum: string[] }>;
}

/** A document is read as it comes. */
type Json = Record<string, Schema & Record<string, object>>;

const released = JSON.parse(readFileSync('test/contract/v1.openapi.json', 'utf8'));
const today = () => JSON.parse(JSON.stringify(openApiDocument('1')));

/** Broken promises once `change` was made to the document of the release. */
function changed(change: (schemas: Json, paths: Json) => void): string[] {
  const document = structuredClone(released);
  change(document.components.schemas, document.paths);
  return brokenPromises(released, document);
}

describe('promises of the released document', () => {
  it('are kept by the document of this build, and by itself', () => {
    expect(brokenPromises(released, today())).toEqual([]);
    expect(brokenPromises(released, released)).toEqual([]);
  });

  it.each<[what: string, change: Parameters<typeof changed>[0], where: string]>([
    ['a route is gone', (_, paths) => delete paths['/v1/recall'], 'post /v1/recall: '],
    [
      'an operation has another name, and so has its function in clients',
      (_, paths) => Object.assign(paths['/v1/recall']?.post ?? {}, { operationId: 'x' }),
      'post /v1/recall: expected operationId recall',
    ],
    [
      'a request has to say more',
      ({ RecallRequest }) => Object.assign(RecallRequest ?? {}, { required: ['userId'] }),
      'post /v1/recall takes.userId: expected optional',
    ],
    [
      'a request may not say something any more',
      ({ RecallRequest }) => delete RecallRequest?.properties.scene,
      'post /v1/recall takes.scene: ',
    ],
    [
      'a word is gone',
      ({ RecallRequest }) => propertyOf(RecallRequest, 'priority').enum.pop(),
      'post /v1/recall takes.priority: expected words',
    ],
    [
      'an answer has a word that clients do not know',
      ({ RecallResponse }) => propertyOf(RecallResponse, 'search').enum.push('guess'),
      'post /v1/recall 200.search: expected words',
    ],
    [
      'an answer may lack what it had',
      ({ RecallResponse }) => RecallResponse?.required.pop(),
      'post /v1/recall 200.',
    ],
    [
      'a member has another type, deep in an answer',
      ({ RecallVersions }) =>
        Object.assign(propertyOf(RecallVersions, 'model'), { type: 'number' }),
      'versions.model: expected type string',
    ],
  ])('are broken where %s', (_, change, where) => {
    const broken = changed(change);
    expect(broken.length).toBeGreaterThan(0);
    expect(broken.join('\n')).toContain(where);
  });

  it('are kept where a request may say more and an answer has more', () => {
    const more = changed(({ RecallRequest, RecallResponse }, paths) => {
      Object.assign(RecallRequest?.properties ?? {}, { more: { type: 'string' } });
      Object.assign(RecallResponse?.properties ?? {}, { more: { type: 'string' } });
      propertyOf(RecallRequest, 'priority').enum.push('urgent');
      Object.assign(paths, { '/v1/more': { get: { responses: {} } } });
    });
    expect(more).toEqual([]);
  });
});

function propertyOf(schema: Schema | undefined, name: string) {
  const found = schema?.properties[name];
  if (found === undefined) throw new Error(`expected a property ${name}, got none`);
  return found;
}
