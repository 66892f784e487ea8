/** The health check of the image. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const folder = temporaryFolder({});
const open: Server[] = [];
const at = (name: string) => join(folder.path, name);

beforeAll(() => {
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const files = ['-nodes', '-keyout', at('key.pem'), '-out', at('certificate.pem')];
  spawnSync('openssl', [...words, ...files, '-days', '1', '-subj', '/CN=other.example']);
});
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});
afterAll(() => folder.remove());

async function exitCode(server: Server): Promise<number> {
  open.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, TESSERA_HTTP_PORT: String(port) };
  const child = spawn(process.execPath, ['tools/release/health.mjs'], { env, stdio: 'ignore' });
  const [code] = await once(child, 'close');
  return code;
}

const answer =
  (status: number): RequestListener =>
  ({ url }, response) => {
    response.statusCode = url === '/health/live' ? status : 404;
    response.end();
  };
const tls = (more: object = {}) => ({
  key: readFileSync(at('key.pem')),
  cert: readFileSync(at('certificate.pem')),
  ...more,
});

describe('the health check of the image', () => {
  it('asks a service that speaks HTTP', async () => {
    expect(await exitCode(createServer(answer(200)))).toBe(0);
    expect(await exitCode(createServer(answer(503)))).toBe(1);
  });

  it('asks a service that speaks TLS, whatever its certificate', async () => {
    expect(await exitCode(createTlsServer(tls(), answer(200)))).toBe(0);
    expect(await exitCode(createTlsServer(tls(), answer(503)))).toBe(1);
  });

  it('takes one that asks for a certificate to live', async () => {
    const ca = readFileSync(at('certificate.pem'));
    const asking = tls({ ca, requestCert: true, rejectUnauthorized: true });
    expect(await exitCode(createTlsServer(asking, answer(200)))).toBe(0);
  });

  it('fails where nobody serves, or something else', async () => {
    const nobody = createSocketServer();
    nobody.listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    expect(await exitCode(createSocketServer((socket) => void socket.end('what?\r\n')))).toBe(1);
    const { port } = nobody.address() as AddressInfo;
    nobody.close();
    await once(nobody, 'close');
    const env = { ...process.env, TESSERA_HTTP_PORT: String(port) };
    const words = ['tools/release/health.mjs'];
    expect(spawnSync(process.execPath, words, { env }).status).toBe(1);
  });
});
