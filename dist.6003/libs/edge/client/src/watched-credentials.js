import { rootCertificates } from "node:tls";
import { experimental } from "@grpc/grpc-js";
/** Gives channels of grpc-js the files that count when they connect. */ let WatchedProvider = class WatchedProvider {
    tls;
    authorities = new Set();
    owns = new Set();
    constructor(tls){
        this.tls = tls;
        tls.onChange(()=>{
            for (const listener of this.authorities)this.tellAuthority(listener);
            for (const listener of this.owns)this.tellOwn(listener);
        });
    }
    addCaCertificateListener(listener) {
        this.authorities.add(listener);
        this.tellAuthority(listener);
    }
    removeCaCertificateListener(listener) {
        this.authorities.delete(listener);
    }
    addIdentityCertificateListener(listener) {
        this.owns.add(listener);
        this.tellOwn(listener);
    }
    removeIdentityCertificateListener(listener) {
        this.owns.delete(listener);
    }
    /** Without one those that Node brings along. */ tellAuthority(listener) {
        listener({
            caCertificate: this.tls.ca ?? Buffer.from(rootCertificates.join('\n'))
        });
    }
    tellOwn(listener) {
        const { cert: certificate, key: privateKey } = this.tls;
        listener(certificate && privateKey ? {
            certificate,
            privateKey
        } : null);
    }
};
/** Credentials of channels, whose new connections have the files of their time. */ export function watchedCredentials(tls) {
    const provider = new WatchedProvider(tls);
    const own = tls.cert === undefined ? null : provider;
    return experimental.createCertificateProviderChannelCredentials(provider, own);
}

//# sourceMappingURL=watched-credentials.js.map