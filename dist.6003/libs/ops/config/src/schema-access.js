/** Keys of who may do what, and of how this process shows itself to others. */ import { z } from "zod";
import { oneOf, text } from "./schema-fields.js";
export const accessSchema = z.strictObject({
    mode: oneOf([
        'guarded',
        'open'
    ], 'guarded', 'without access.tokensPath: guarded serves loopback addresses only, open lets every ' + 'caller do everything'),
    tokensPath: text('', 'JSON file of tokens and certificates with their scopes; empty: no access control, ' + 'loopback only'),
    auditPath: text('', 'file of audits; empty: audit.jsonl in adapters.path, weights.path or inspection.path; ' + 'of a feature process behaviours.path with .audit.jsonl behind it')
});
export const peerSchema = z.strictObject({
    tls: oneOf([
        'off',
        'on'
    ], 'off', 'TLS with other processes of Tessera (behaviours.remote, behaviours.retrieval, a ' + "gateway's nodes)"),
    caPath: text('', 'PEM file of the authorities for outgoing connections (Tessera, Kafka, Redis, etcd); ' + 'empty: those of the system'),
    certificatePath: text('', 'PEM file of the client certificate of outgoing connections; empty: none'),
    keyPath: text('', 'PEM file of its private key'),
    tokenPath: text('', 'file of the token for other processes of Tessera; empty: none')
});

//# sourceMappingURL=schema-access.js.map