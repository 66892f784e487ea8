import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { ClickHouseStore } from './outside/clickhouse-store.js';

it('asks ClickHouse over HTTP, and says what it refuses', async () => {
  const asked: string[] = [];
  const server = createServer((request, reply) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      asked.push(`${request.headers['x-clickhouse-user']} ${body}`);
      const isWrong = body.startsWith('wrong');
      reply.statusCode = isWrong ? 400 : 200;
      reply.end(isWrong ? 'Syntax error' : '{"a":1}\n{"a":2}\n');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const store = new ClickHouseStore({ url, database: 'd', user: 'u', password: 'p' });
  expect(await store.rows(['SELECT a', 'SELECT b'])).toEqual([
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { a: 2 }],
  ]);
  expect(asked).toEqual(['u SELECT a FORMAT JSONEachRow', 'u SELECT b FORMAT JSONEachRow']);
  await expect(store.rows(['wrong'])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await new Promise((resolve) => {
    server.close(resolve);
  });
  await expect(store.rows(['SELECT a'])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});
