function _ts_decorate(decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") {
        r = Reflect.decorate(decorators, target, key, desc);
    } else {
        for(var i = decorators.length - 1; i >= 0; i--){
            if (d = decorators[i]) {
                r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
            }
        }
    }
    return c > 3 && r && Object.defineProperty(target, key, r), r;
}
import { Module } from "@nestjs/common";
import { OperationsModule } from "../../../libs/edge/hosting/src/index.js";
import { RecallRequests } from "../../../libs/ops/kafka/src/index.js";
import { Log } from "../../../libs/ops/telemetry/src/index.js";
import { Cluster } from "./cluster.js";
import { ClusterController } from "./http/cluster.controller.js";
import { ForwardedBehaviours } from "./kafka/forwarded-behaviours.js";
import { TopicsController } from "./kafka/topics.controller.js";
export class GatewayModule {
    static register(operations, cluster, topics) {
        return {
            module: GatewayModule,
            imports: [
                OperationsModule.register(operations)
            ],
            controllers: [
                ClusterController,
                ...topics === undefined ? [] : [
                    TopicsController
                ]
            ],
            providers: [
                {
                    provide: Cluster,
                    useValue: cluster
                },
                {
                    provide: Log,
                    useValue: operations.log
                },
                {
                    provide: RecallRequests,
                    useValue: topics?.requests
                },
                {
                    provide: ForwardedBehaviours,
                    useValue: topics?.behaviours
                }
            ]
        };
    }
}
GatewayModule = _ts_decorate([
    Module({})
], GatewayModule);

//# sourceMappingURL=gateway.module.js.map