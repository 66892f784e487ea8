/** Certificates of a caller that are renewed while it runs, over both kinds of channel. */

import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import * as grpc from '@grpc/grpc-js';
import { WatchedTls } from '@tessera/config';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { channelCredentials } from './connection.js';

const tls = (name: string) => join('test', 'fixtures', 'tls', name);
const FIELDS = { certificate: 'certificate', key: 'key', ca: 'ca' };
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder({});
});
afterEach(() => folder.remove());
const at = (name: string) => join(folder.path, name);
const put = (name: string) => {
  copyFileSync(tls(`${name}.pem`), at('own.pem'));
  copyFileSync(tls(`${name}.key`), at('own.key'));
};

/** A server that notes who calls. */
async function listening() {
  const names: string[] = [];
  let onName: () => void = () => undefined;
  const server = createServer(
    {
      cert: readFileSync(tls('server.pem')),
      key: readFileSync(tls('server.key')),
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
    },
    (socket: TLSSocket) => {
      names.push(String(socket.getPeerCertificate().subject?.CN));
      onName();
      socket.destroy();
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const nextName = () =>
    new Promise<void>((resolve) => {
      onName = resolve;
    });
  return { address: `127.0.0.1:${port}`, names, nextName, close: () => server.close() };
}

it('are shown by the next connection of a channel of grpc-js', async () => {
  put('client');
  const paths = { certificatePath: at('own.pem'), keyPath: at('own.key') };
  const watched = new WatchedTls(FIELDS, { ...paths, caPath: tls('authority.pem') });
  const { address, names, nextName, close } = await listening();
  const credentials = channelCredentials({ isTls: true, files: watched, token: '' });
  const reached = async () => {
    const name = nextName();
    const client = new grpc.Client(address, credentials);
    client.waitForReady(Date.now() + 60_000, () => undefined);
    await name;
    client.close();
  };
  await reached();
  put('server');
  watched.look();
  await reached();
  expect(names[0]).toBe('robot.example');
  expect(names.at(-1)).not.toBe('robot.example');
  close();
});
