import { readSecret, readTls, tokenOfEnvironment } from "../libs/ops/config/src/index.js";
const EXIT_USAGE = 2;
/** The flags of a command; one that it does not have ends it with the reason. */ export function flagsOf(parse) {
    try {
        return parse().values;
    } catch (thrown) {
        const [reason] = thrown.message.split('\n');
        process.stderr.write(`${reason}\n--help: all of them\n`);
        return process.exit(EXIT_USAGE);
    }
}
/** Flags that say how the service is called. */ export const CONNECTION_FLAGS = {
    tls: {
        type: 'boolean'
    },
    ca: {
        type: 'string',
        default: ''
    },
    cert: {
        type: 'string',
        default: ''
    },
    key: {
        type: 'string',
        default: ''
    },
    'token-file': {
        type: 'string',
        default: ''
    }
};
export const CONNECTION_USAGE = `  --tls            over TLS
  --ca FILE        authority of the service's certificate (default: those of the system)
  --cert FILE      own certificate, where the service asks for one
  --key FILE       its private key
  --token-file F   file of the token (default: the variable TESSERA_TOKEN)`;
/** @throws TesseraError CONFIG_INVALID for files that are not what they should be */ export function connectionOf(values) {
    const { tls = false, ca, cert, key, 'token-file': tokenPath } = values;
    const names = {
        certificate: '--cert',
        key: '--key',
        ca: '--ca'
    };
    return {
        isTls: tls || ca !== '' || cert !== '',
        files: readTls(names, {
            caPath: ca,
            certificatePath: cert,
            keyPath: key
        }),
        token: tokenPath === '' ? tokenOfEnvironment() : readSecret('--token-file', tokenPath)
    };
}

//# sourceMappingURL=connection.js.map