import { HealthImplementation } from "grpc-health-check";
/** grpc.health.v1.Health: the server as a whole ('') and each service follow the readiness. */ export class GrpcHealth {
    health;
    constructor(services, readiness){
        const names = [
            '',
            ...services
        ];
        const status = ()=>readiness.ready ? 'SERVING' : 'NOT_SERVING';
        this.health = new HealthImplementation(Object.fromEntries(names.map((name)=>[
                name,
                status()
            ])));
        readiness.onChange(()=>{
            for (const name of names)this.health.setStatus(name, status());
        });
    }
    addTo(server) {
        this.health.addToServer(server);
    }
}

//# sourceMappingURL=health.js.map