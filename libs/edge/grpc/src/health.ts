import type { Server } from '@grpc/grpc-js';
import type { Readiness } from '@tessera/lifecycle';
import { HealthImplementation } from 'grpc-health-check';

/** grpc.health.v1.Health: the server as a whole ('') and each service follow the readiness. */
export class GrpcHealth {
  private readonly health: HealthImplementation;

  constructor(services: readonly string[], readiness: Readiness) {
    const names = ['', ...services];
    const status = () => (readiness.ready ? 'SERVING' : 'NOT_SERVING');
    this.health = new HealthImplementation(
      Object.fromEntries(names.map((name) => [name, status()])),
    );
    readiness.onChange(() => {
      for (const name of names) this.health.setStatus(name, status());
    });
  }

  addTo(server: Server): void {
    this.health.addToServer(server);
  }
}
