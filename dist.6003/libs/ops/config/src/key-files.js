/** Files that the configuration names: PEM files of TLS, tokens, passwords. */ import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { TesseraError } from "../../errors/src/index.js";
import { readRegularSync } from "../../files/src/index.js";
const FILE_BYTES_MAX = 1 << 20;
function invalid(field, message, cause) {
    return new TesseraError('CONFIG_INVALID', `${field}: ${message}`, {
        field,
        cause
    });
}
/**
 * @param field path of the key in the configuration, or the flag of a command
 * @throws TesseraError CONFIG_INVALID
 */ function readKeyFile(field, path) {
    try {
        return readRegularSync(path, FILE_BYTES_MAX);
    } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw invalid(field, `expected a readable file, got ${path}: ${reason}`, cause);
    }
}
/**
 * A secret that is the only line of its file; '' where no file is named.
 * @throws TesseraError CONFIG_INVALID
 */ export function readSecret(field, path) {
    if (path === '') return '';
    const text = readKeyFile(field, path).toString('utf8').trim();
    if (text !== '' && !text.includes('\n')) return text;
    throw invalid(field, `${path}: expected one line of text, got ${text === '' ? 'none' : 'more'}`);
}
/**
 * Reads them and sees that the key is that of the certificate.
 * @throws TesseraError CONFIG_INVALID
 */ export function readTls(fields, { certificatePath, keyPath, caPath }) {
    const read = (field, path)=>path === '' ? undefined : readKeyFile(field, path);
    const cert = read(fields.certificate, certificatePath);
    const key = read(fields.key, keyPath);
    const ca = read(fields.ca, caPath);
    if (cert === undefined !== (key === undefined)) {
        const message = `expected both ${fields.certificate} and ${fields.key}, got one of them`;
        throw invalid(fields.key, message);
    }
    if (ca !== undefined) certificateOf(fields.ca, caPath, ca);
    if (cert !== undefined && key !== undefined) {
        const certificate = certificateOf(fields.certificate, certificatePath, cert);
        if (!certificate.checkPrivateKey(privateKeyOf(fields.key, keyPath, key))) {
            const message = `expected the private key of the certificate in ${certificatePath}`;
            throw invalid(fields.key, `${message}, got another one in ${keyPath}`);
        }
    }
    checkContext(fields, {
        cert,
        key,
        ca
    });
    return {
        cert,
        key,
        ca
    };
}
/** Other faults that TLS refuses, such as a weak signature. */ function checkContext(fields, files) {
    try {
        createSecureContext(files);
    } catch (cause) {
        const { message } = cause;
        const isOfAuthority = files.cert === undefined || /\bca\b/.test(message);
        const field = isOfAuthority ? fields.ca : fields.certificate;
        throw invalid(field, `expected files that TLS takes, got: ${message}`, cause);
    }
}
/** OpenSSL takes no fewer for TLS. */ const RSA_BITS_MIN = 2048;
const DER_BEGIN = 0x30;
/** The fault of a file that is no PEM; '' where it is. */ function faultOfForm(bytes) {
    if (bytes.includes('-----BEGIN')) return '';
    return bytes[0] === DER_BEGIN ? 'DER: convert it to PEM' : 'no line that begins -----BEGIN';
}
function certificateOf(field, path, pem) {
    const expected = `${path}: expected a certificate in PEM, got`;
    const form = faultOfForm(pem);
    if (form !== '') throw invalid(field, `${expected} ${form}`);
    let certificate;
    try {
        certificate = new X509Certificate(pem);
    } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw invalid(field, `${expected}: ${reason}`, cause);
    }
    const { modulusLength: bits = RSA_BITS_MIN } = certificate.publicKey.asymmetricKeyDetails ?? {};
    if (bits >= RSA_BITS_MIN) return certificate;
    throw invalid(field, `${path}: expected a key of ${RSA_BITS_MIN} bits at least, got ${bits}`);
}
function privateKeyOf(field, path, pem) {
    const expected = `${path}: expected a private key in PEM, got`;
    const form = faultOfForm(pem);
    if (form !== '') throw invalid(field, `${expected} ${form}`);
    if (pem.includes('ENCRYPTED')) {
        throw invalid(field, `${expected} one with a passphrase, which is not supported`);
    }
    try {
        return createPrivateKey(pem);
    } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw invalid(field, `${expected}: ${reason}`, cause);
    }
}
/**
 * Reads every file that the configuration names, before anything is opened.
 * @throws TesseraError CONFIG_INVALID with one line per bad file
 */ export function checkKeyFiles({ kafka, behaviours, cluster, oidc, ...areas }) {
    const { http, grpc, peer } = areas;
    const tls = (area, caName, paths)=>()=>readTls({
                certificate: `${area}.certificatePath`,
                key: `${area}.keyPath`,
                ca: `${area}.${caName}`
            }, paths);
    const secret = (field, path)=>()=>readSecret(field, path);
    const serverTls = (area, { clientCaPath: caPath, ...own })=>tls(area, 'clientCaPath', {
            certificatePath: own.certificatePath,
            keyPath: own.keyPath,
            caPath
        });
    const checks = [
        serverTls('http', http),
        serverTls('grpc', grpc),
        tls('peer', 'caPath', peer),
        secret('peer.tokenPath', peer.tokenPath),
        secret('kafka.saslPasswordPath', kafka.saslPasswordPath),
        secret('behaviours.redisPasswordPath', behaviours.redisPasswordPath),
        secret('cluster.etcdPasswordPath', cluster.etcdPasswordPath),
        secret('oidc.clientSecretPath', oidc.clientSecretPath)
    ];
    const faults = checks.flatMap((check)=>{
        try {
            check();
            return [];
        } catch (thrown) {
            return [
                TesseraError.from(thrown)
            ];
        }
    });
    const [first, ...others] = faults;
    if (first !== undefined && others.length === 0) throw first;
    if (first === undefined) return;
    const lines = faults.map(({ message })=>message).join('\n  ');
    throw new TesseraError('CONFIG_INVALID', `bad configuration:\n  ${lines}`);
}

//# sourceMappingURL=key-files.js.map