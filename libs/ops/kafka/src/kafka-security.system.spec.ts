/** A real broker that speaks TLS and asks for user and password. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaSecurity, loadConfig } from '@tessera/config';
import { createLog } from '@tessera/telemetry';
import { type KafkaBroker, startKafkaBroker, temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureTopics, kafkaClient, RecordProducer } from './index.js';

const folder = temporaryFolder({});
const tls = (name: string) => join('test', 'fixtures', 'tls', name);
const PASSWORD = 'a-password';
const log = createLog('silent');
let broker: KafkaBroker;

beforeAll(async () => {
  writeFileSync(join(folder.path, 'password'), `${PASSWORD}\n`);
  writeFileSync(join(folder.path, 'wrong'), 'guessed\n');
  broker = await startKafkaBroker({
    key: readFileSync(tls('server.key'), 'utf8'),
    certificate: readFileSync(tls('server.pem'), 'utf8'),
    user: 'tessera',
    password: PASSWORD,
  });
});
afterAll(async () => {
  await broker?.stop();
  folder.remove();
});

const variables = (mechanism: string) => ({
  TESSERA_KAFKA_TLS: 'on',
  TESSERA_PEER_CA_PATH: tls('authority.pem'),
  TESSERA_KAFKA_SASL_MECHANISM: mechanism,
  TESSERA_KAFKA_SASL_USER: 'tessera',
  TESSERA_KAFKA_SASL_PASSWORD_PATH: join(folder.path, 'password'),
});

function client(environment: Readonly<Record<string, string>>) {
  const security = kafkaSecurity(loadConfig({ environment }).config);
  return kafkaClient({ clientId: 'test', brokers: [broker.address], security }, log);
}

describe('a broker with TLS and SASL', () => {
  it('is shown the password of the handshake', async () => {
    const path = join(folder.path, 'renewed');
    writeFileSync(path, 'guessed');
    const kafka = await client({ ...variables('plain'), TESSERA_KAFKA_SASL_PASSWORD_PATH: path });
    const admin = kafka.admin({ retry: { retries: 0 } });
    await expect(admin.connect()).rejects.toThrow();
    writeFileSync(path, PASSWORD);
    await admin.connect();
    await admin.disconnect();
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'])(
    'takes and gives by %s',
    async (mechanism) => {
      const kafka = await client(variables(mechanism));
      await ensureTopics(kafka, [mechanism], { createPartitions: 1 });
      const producer = new RecordProducer(kafka);
      await producer.send(mechanism, [{ key: 'k', value: 'v' }]);
      await producer.close();
      const admin = kafka.admin();
      await admin.connect();
      expect(await admin.fetchTopicOffsets(mechanism)).toMatchObject([{ high: '1' }]);
      await admin.disconnect();
    },
  );

  const { TESSERA_PEER_CA_PATH: _, ...strangers } = variables('plain');
  it.each([
    [
      'a wrong password',
      { ...variables('plain'), TESSERA_KAFKA_SASL_PASSWORD_PATH: join(folder.path, 'wrong') },
    ],
    ['neither user nor TLS', {}],
    ['an authority that has not signed it', strangers],
  ])('is not to be had with %s', async (_name, environment) => {
    const kafka = await client(environment as Record<string, string>);
    const made = ensureTopics(kafka, ['t'], { createPartitions: 1 });
    await expect(made).rejects.toThrow();
  });
});
