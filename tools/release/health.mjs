// Ends with 0 where the service of this container lives: the image's health check. It asks by HTTP,
// and by TLS where that is spoken; a certificate is not looked at, and none is presented.
import * as http from 'node:http';
import * as https from 'node:https';

const port = Number(process.env.TESSERA_HTTP_PORT ?? 8080);
const at = { host: '127.0.0.1', port, path: '/health/live', timeout: 2000, agent: false };

function ask({ get }, more) {
  return new Promise((resolve, reject) => {
    const request = get({ ...at, ...more }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', reject);
  });
}

/** A service that asks callers for a certificate lives. */
const wantsCertificate = ({ code = '' }) => code.includes('CERTIFICATE_REQUIRED');

const isLive = await ask(http, {}).catch((thrown) =>
  thrown.code === 'ECONNREFUSED'
    ? false
    : ask(https, { rejectUnauthorized: false }).catch(wantsCertificate),
);
process.exit(isLive ? 0 : 1);
