import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { Etcd } from './etcd.js';

/** A member that knows one password, and no token of before. */
async function startMember(state: { password: string }) {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const asked = JSON.parse(Buffer.concat(parts).toString());
    const isLogin = request.url === '/v3/auth/authenticate';
    const isKnown = isLogin
      ? asked.password === state.password
      : request.headers.authorization === `token of ${state.password}`;
    const refusal = isLogin ? 'authentication failed' : 'invalid auth token';
    response.statusCode = isKnown ? 200 : 401;
    response.end(
      JSON.stringify(isKnown ? { token: `token of ${asked.password}` } : { message: refusal }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { address: `127.0.0.1:${port}`, close: () => server.close() };
}

it('shows the password of the login, where a token is known no more', async () => {
  const state = { password: 'first' };
  const member = await startMember(state);
  let password = 'first';
  const etcd = new Etcd(member.address, {
    username: 'tessera',
    get password() {
      return password;
    },
  });
  expect(await etcd.entriesUnder('/')).toEqual([]);
  state.password = 'second';
  await expect(etcd.entriesUnder('/')).rejects.toMatchObject({ field: 'cluster.etcdUser' });
  password = 'second';
  expect(await etcd.entriesUnder('/')).toEqual([]);
  member.close();
});
