import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { channelCredentials, tokenHeaders } from "../../libs/edge/client/src/index.js";
import { readSecret, readTls, tokenOfEnvironment } from "../../libs/ops/config/src/index.js";
import { TesseraError } from "../../libs/ops/errors/src/index.js";
import { fail } from "../terminal/command.js";
/** The same for every command that calls a service. */ export const CONNECTION_FLAGS = {
    tls: 'switch',
    ca: 'text',
    cert: 'text',
    key: 'text',
    'token-file': 'text'
};
export const CONNECTION_USAGE = `  --tls                over TLS
  --ca FILE            authority of the service's certificate (default: those of the system)
  --cert FILE          own certificate, where the service asks for one
  --key FILE           its private key
  --token-file FILE    file of the token (default: the variable TESSERA_TOKEN)`;
/**
 * How the service is called. Any file of TLS stands for --tls.
 * @throws TesseraError CONFIG_INVALID for files that are not what they should be
 */ function connectionOf(flags) {
    const path = (name)=>flags.text(name) ?? '';
    const [caPath, certificatePath, keyPath] = [
        'ca',
        'cert',
        'key'
    ].map(path);
    const fields = {
        certificate: '--cert',
        key: '--key',
        ca: '--ca'
    };
    const tokenPath = path('token-file');
    return {
        isTls: flags.has('tls') || `${caPath}${certificatePath}` !== '',
        files: readTls(fields, {
            caPath,
            certificatePath,
            keyPath
        }),
        token: tokenPath === '' ? tokenOfEnvironment() : readSecret('--token-file', tokenPath)
    };
}
/** Of the command line, else the configured one, which says whether it speaks TLS. */ export function servedAt(flags, { grpc }, flag = 'address') {
    const connection = connectionOf(flags);
    const given = flags.text(flag);
    if (given !== undefined) {
        if (/:\d+$/.test(given)) return {
            address: given,
            connection
        };
        return fail(flag, 'HOST:PORT', given);
    }
    const isTls = connection.isTls || grpc.certificatePath !== '';
    return {
        address: `${grpc.host}:${grpc.port}`,
        connection: {
            ...connection,
            isTls
        }
    };
}
/** Options of a gRPC client of the command's own. */ export function grpcOptions(connection) {
    return {
        credentials: channelCredentials(connection),
        headers: tokenHeaders(connection)
    };
}
/**
 * JSON that the service answers a GET with, or a POST of JSON, whatever its status.
 * @param flag that names the address, for messages
 */ export function askJson(url, connection, flag, body) {
    const request = url.startsWith('https:') ? requestHttps : requestHttp;
    const isPost = body !== undefined;
    const headers = {
        ...tokenHeaders(connection),
        ...isPost && {
            'content-type': 'application/json'
        }
    };
    const options = {
        ...connection.files,
        headers,
        method: isPost ? 'POST' : 'GET'
    };
    return new Promise((resolve, reject)=>{
        const unavailable = (cause)=>{
            const message = `${flag}: expected a service at ${url}, got: ${cause.message}`;
            reject(new TesseraError('ENGINE_UNAVAILABLE', message, {
                cause
            }));
        };
        const call = request(url, options, (reply)=>{
            const chunks = [];
            reply.on('data', (chunk)=>chunks.push(chunk));
            reply.on('error', unavailable);
            reply.on('end', ()=>{
                try {
                    resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
                } catch (thrown) {
                    unavailable(thrown);
                }
            });
        });
        call.on('error', unavailable);
        call.end(isPost ? JSON.stringify(body) : undefined);
    });
}

//# sourceMappingURL=connection.js.map