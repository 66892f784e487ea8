/** The tables of methods and routes have a row for all that is served, and for nothing else. */

import 'reflect-metadata';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Server } from '@grpc/grpc-js';
import { type AccessRule, SCOPES } from '@tessera/access';
import { loadConfig } from '@tessera/config';
import { protoSchema } from '@tessera/contracts';
import { METHODS, roleOf, routeRule } from '@tessera/methods';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import type { FastifyInstance } from 'fastify';
import protobuf from 'protobufjs';
import { describe, expect, it, vi } from 'vitest';
import { serve as serveGateway } from '../../apps/gateway/src/serve.js';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeRuntime } from '../integration/fake-runtime.js';
import { METHOD_RULES, ROUTE_RULES } from './access-rules.js';

const require = createRequire(import.meta.url);
const protoLoader = require('@grpc/proto-loader') as typeof import('@grpc/proto-loader');

/** Where the built pages are not there, the console has no routes for them. */
vi.mock('../../apps/standalone/src/console.js', async (original) => ({
  ...(await original<object>()),
  get PAGES_FOLDER() {
    return pages.path;
  },
}));
const pages = vi.hoisted(() => ({ path: '' }));

/** Paths of all methods of a set of services, as a definition of the loader has them. */
function methodsOf(definition: import('@grpc/proto-loader').PackageDefinition): string[] {
  return Object.values(definition).flatMap((entry) =>
    'format' in entry ? [] : Object.values(entry).map(({ path }) => path),
  );
}

interface Served {
  /** Paths of methods. */
  readonly methods: Set<string>;
  /** As `GET /health`. */
  readonly routes: Set<string>;
}

/** Methods and routes as they are registered with the servers of a service and of a gateway. */
async function served(): Promise<Served> {
  const found: Served = { methods: new Set(), routes: new Set() };
  const onServer = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) if (one !== 'HEAD') found.routes.add(`${one} ${url}`);
    });
  };
  const added = vi.spyOn(Server.prototype, 'addService');
  const folder = temporaryFolder({ 'index.html': '' });
  pages.path = folder.path;
  const { config } = loadConfig({
    environment: {
      TESSERA_HTTP_PORT: '0',
      TESSERA_GRPC_PORT: '0',
      TESSERA_INSPECTION_PATH: '',
      TESSERA_ACCESS_AUDIT_PATH: join(folder.path, 'audit.jsonl'),
      TESSERA_CLUSTER_NODES: 'nobody=127.0.0.1:1/127.0.0.1:2',
    },
  });
  subscribe('fastify.initialization', onServer);
  const parts = { runtime: new FakeRuntime(), log: createLog('silent'), serviceVersion: '1.2.3' };
  try {
    const serving = await serve({ config, ...parts });
    await serving.drain.run();
    const gateway = await serveGateway({ config, log: parts.log, serviceVersion: '1.2.3' });
    await gateway.drain.run();
    for (const [service] of added.mock.calls) {
      for (const { path } of Object.values(service)) found.methods.add(path);
    }
  } finally {
    added.mockRestore();
    unsubscribe('fastify.initialization', onServer);
    folder.remove();
  }
  return found;
}

const rules = [...Object.entries(METHOD_RULES), ...Object.entries(ROUTE_RULES)];

describe('the table of methods', () => {
  it('has all methods and routes of service, gateway and protos, and no other', async () => {
    const { methods, routes } = await served();
    // The runtime of this test takes no behaviours, so that service is in the protos alone.
    const schema = protoSchema as Parameters<typeof protoLoader.fromJSON>[0];
    const described = methodsOf(protoLoader.fromJSON(schema));
    expect([methods.size, routes.size, described.length].every((count) => count > 25)).toBe(true);
    expect(METHODS.map(({ path }) => path).sort()).toEqual(
      [...new Set([...methods, ...described])].sort(),
    );
    expect(Object.keys(ROUTE_RULES).sort()).toEqual([...routes].sort());
    for (const route of routes) {
      const [method = '', url = ''] = route.split(' ');
      expect(routeRule(method, url), route).toBeDefined();
    }
  });

  it('uses every scope that is no role, and leaves open what shows and changes nothing', () => {
    const needs = rules.map(([, { need }]) => need);
    const used = new Set(
      needs.flatMap((need) => (need !== 'open' && 'scope' in need ? [need.scope] : [])),
    );
    const roles = ['read', 'operate', 'admin'];
    expect([...used].sort()).toEqual(SCOPES.filter((scope) => !roles.includes(scope)).sort());
    const open = rules.flatMap(([name, { need }]) => (need === 'open' ? [name] : []));
    const isHarmless = /Health|\/health|\/docs|\/console$|\/console\/\*|\/console\/api\/login/;
    expect(open.filter((name) => !isHarmless.test(name))).toEqual([]);
  });

  it('names fields of its requests where it routes by them', () => {
    const root = protobuf.Root.fromJSON(protoSchema as protobuf.INamespace);
    const fieldAt = (type: protobuf.Type, path: string) => {
      let [of, field]: [protobuf.Type | undefined, protobuf.Field | undefined] = [type, undefined];
      for (const name of path.split('.')) {
        field = of?.fields[name]?.resolve();
        of = field?.resolvedType instanceof protobuf.Type ? field.resolvedType : undefined;
      }
      return field;
    };
    for (const { path, routing } of METHODS) {
      if (path.startsWith('/grpc.')) continue;
      const [, service = '', name = ''] = path.split('/');
      const method = root.lookupService(service).methods[name];
      method?.resolve();
      const request = method?.resolvedRequestType as protobuf.Type;
      if (routing.to === 'user') {
        expect(fieldAt(request, routing.userAt)?.name, path).toBe('userId');
        if (routing.nodeAt) expect(fieldAt(request, routing.nodeAt)?.type, path).toBe('string');
      } else if (routing.to === 'owners' || routing.to === 'split') {
        expect(fieldAt(request, routing.partsAt)?.repeated, path).toBe(true);
      } else if (routing.to === 'any') {
        expect(request.fields.userId, path).toBeUndefined();
      }
    }
  });

  it('gives nodes that append what computes behaviours ahead of recalls, and no other call', () => {
    const appends = METHODS.filter(({ role }) => role === 'append').map(({ path }) => path);
    expect(appends).toEqual([
      '/tessera.behaviour.v1.BehaviourService/Append',
      '/tessera.kv.v1.KvPoolService/Append',
    ]);
    for (const path of appends) expect(roleOf(path)).toBe('append');
    expect(METHODS.find(({ http }) => http === '/v1/kv/append')?.role).toBe('append');
    expect(roleOf('/tessera.recall.v1.RecallService/Recall')).toBe('answer');
    expect(roleOf('/no/method')).toBe('answer');
  });

  it('is the table of docs/operate/security.md', () => {
    const rows = readFileSync('docs/operate/security.md', 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, name, need] = /^\| `(\/\S+|[A-Z]+ \/\S*)` \| (.*) \|$/.exec(line) ?? [];
        return name === undefined ? [] : [[name, need?.replaceAll('`', '')]];
      });
    const wordOf = ({ need }: AccessRule) =>
      need === 'open' ? need : 'scope' in need ? need.scope : `role ${need.role}`;
    const expected = rules.map(([name, rule]) => [name, wordOf(rule)]);
    expect(rows.sort()).toEqual(expected.sort());
  });
});
