import { rootCertificates } from 'node:tls';
import { experimental } from '@grpc/grpc-js';
import type { WatchedTls } from '@tessera/config';

type CaListener = Parameters<experimental.CertificateProvider['addCaCertificateListener']>[0];
type OwnListener = Parameters<
  experimental.CertificateProvider['addIdentityCertificateListener']
>[0];

/** Gives channels of grpc-js the files that count when they connect. */
class WatchedProvider implements experimental.CertificateProvider {
  private readonly authorities = new Set<CaListener>();
  private readonly owns = new Set<OwnListener>();

  constructor(private readonly tls: WatchedTls) {
    tls.onChange(() => {
      for (const listener of this.authorities) this.tellAuthority(listener);
      for (const listener of this.owns) this.tellOwn(listener);
    });
  }

  addCaCertificateListener(listener: CaListener): void {
    this.authorities.add(listener);
    this.tellAuthority(listener);
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.authorities.delete(listener);
  }

  addIdentityCertificateListener(listener: OwnListener): void {
    this.owns.add(listener);
    this.tellOwn(listener);
  }

  removeIdentityCertificateListener(listener: OwnListener): void {
    this.owns.delete(listener);
  }

  /** Without one those that Node brings along. */
  private tellAuthority(listener: CaListener): void {
    listener({ caCertificate: this.tls.ca ?? Buffer.from(rootCertificates.join('\n')) });
  }

  private tellOwn(listener: OwnListener): void {
    const { cert: certificate, key: privateKey } = this.tls;
    listener(certificate && privateKey ? { certificate, privateKey } : null);
  }
}

/** Credentials of channels, whose new connections have the files of their time. */
export function watchedCredentials(tls: WatchedTls) {
  const provider = new WatchedProvider(tls);
  const own = tls.cert === undefined ? null : provider;
  return experimental.createCertificateProviderChannelCredentials(provider, own);
}
