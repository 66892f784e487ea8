/** Certificates that are renewed on disk while a service runs. */

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeRuntime } from './fake-runtime.js';

const folder = temporaryFolder({});
const at = (name: string) => join(folder.path, name);
const put = (from: string, to: string) => copyFileSync(join('test/fixtures/tls', from), at(to));
let serving: Serving;

beforeAll(async () => {
  put('server.pem', 'own.pem');
  put('server.key', 'own.key');
  const environment = {
    TESSERA_HTTP_PORT: '0',
    TESSERA_GRPC_PORT: '0',
    TESSERA_HTTP_CERTIFICATE_PATH: at('own.pem'),
    TESSERA_HTTP_KEY_PATH: at('own.key'),
    TESSERA_GRPC_CERTIFICATE_PATH: at('own.pem'),
    TESSERA_GRPC_KEY_PATH: at('own.key'),
  };
  const { config } = loadConfig({ environment });
  const log = createLog('silent');
  serving = await serve({ config, runtime: new FakeRuntime(), log, serviceVersion: '1.2.3' });
});
afterAll(async () => {
  await serving.drain.run();
  folder.remove();
});

/** The name in the certificate that an edge shows, and what was asked of it over the connection. */
function shown(address: string): Promise<string> {
  const port = Number(/:(\d+)$/.exec(address)?.[1]);
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] };
    const http = address.startsWith('https') ? { ALPNProtocols: ['http/1.1'] } : {};
    const socket = connect(Object.assign(options, http), () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

function asked(path: string): Promise<string> {
  const port = Number(/:(\d+)$/.exec(serving.httpUrl)?.[1]);
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
    });
    let text = '';
    socket.on('data', (part: Buffer) => {
      text += part;
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}

const BOTH = () => Promise.all([shown(serving.httpUrl), shown(serving.grpcAddress)]);
const WAIT = { timeout: 60_000 };

it('are shown by new handshakes once they fit together, the last good ones before', async () => {
  const [before] = await BOTH();
  expect(await BOTH()).toEqual([before, before]);
  expect(before).not.toBe('robot.example');
  put('client.pem', 'own.pem');
  await expect.poll(() => asked('/health'), WAIT).toContain('expected the private key of');
  expect(await BOTH()).toEqual([before, before]);
  put('client.key', 'own.key');
  await expect.poll(BOTH, WAIT).toEqual(['robot.example', 'robot.example']);
  expect(await asked('/health')).not.toContain('expected the private key of');
});

it('say in the metrics when they end', async () => {
  const text = await asked('/metrics');
  for (const file of ['http.certificatePath', 'grpc.certificatePath']) {
    const found = new RegExp(`tessera_certificate_expires_seconds\\{file="${file}"\\} (\\S+)`);
    expect(Number(found.exec(text)?.[1])).toBeGreaterThan(86_400);
  }
});
