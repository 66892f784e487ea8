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
import { RecordProducer } from "../../../libs/ops/kafka/src/index.js";
import { Log } from "../../../libs/ops/telemetry/src/index.js";
import { BehaviourEdge } from "./behaviour-edge.js";
import { behaviourHandlers } from "./behaviour-handlers.js";
import { BehaviourTopicController } from "./kafka/behaviour-topic.controller.js";
export class FeatureModule {
    static register(options) {
        const { producer } = options;
        return {
            module: FeatureModule,
            controllers: producer === undefined ? [] : [
                BehaviourTopicController
            ],
            providers: [
                {
                    provide: BehaviourEdge,
                    useValue: new BehaviourEdge(options)
                },
                {
                    provide: Log,
                    useValue: options.log
                },
                ...producer === undefined ? [] : [
                    {
                        provide: RecordProducer,
                        useValue: producer
                    }
                ]
            ]
        };
    }
}
FeatureModule = _ts_decorate([
    Module({})
], FeatureModule);
/** The methods of this module. */ export const behaviourMethods = (app)=>behaviourHandlers(app.get(BehaviourEdge));

//# sourceMappingURL=feature.module.js.map