/** The access table has an entry for every gRPC method and HTTP route, and for nothing else. */

import 'reflect-metadata';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Server } from '@grpc/grpc-js';
import { GRPC_ACCESS, HTTP_ACCESS, SCOPES } from '@tessera/access';
import { loadConfig } from '@tessera/config';
import { protoSchema } from '@tessera/contracts';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it, vi } from 'vitest';
import { serve as serveGateway } from '../../apps/gateway/src/serve.js';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeRuntime } from '../integration/fake-runtime.js';

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

describe('the access table', () => {
  it('has all methods and routes of service, gateway and protos, and no other', async () => {
    const { methods, routes } = await served();
    // The runtime of this test takes no behaviours, so that service is in the protos alone.
    const schema = protoSchema as Parameters<typeof protoLoader.fromJSON>[0];
    const described = methodsOf(protoLoader.fromJSON(schema));
    expect([methods.size, routes.size, described.length].every((count) => count > 25)).toBe(true);
    expect(Object.keys(GRPC_ACCESS).sort()).toEqual(
      [...new Set([...methods, ...described])].sort(),
    );
    expect(Object.keys(HTTP_ACCESS).sort()).toEqual([...routes].sort());
  });

  it('uses every scope that is no role, and leaves open what shows and changes nothing', () => {
    const rules = [...Object.entries(GRPC_ACCESS), ...Object.entries(HTTP_ACCESS)];
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

  it('is the table of docs/operate/security.md', () => {
    const rows = readFileSync('docs/operate/security.md', 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, name, need] = /^\| `(\/\S+|[A-Z]+ \/\S*)` \| (.*) \|$/.exec(line) ?? [];
        return name === undefined ? [] : [[name, need?.replaceAll('`', '')]];
      });
    const wordOf = ({ need }: (typeof HTTP_ACCESS)[string]) =>
      need === 'open' ? need : 'scope' in need ? need.scope : `role ${need.role}`;
    const rules = [...Object.entries(GRPC_ACCESS), ...Object.entries(HTTP_ACCESS)];
    expect(rows).toEqual(rules.map(([name, rule]) => [name, wordOf(rule)]));
  });
});
