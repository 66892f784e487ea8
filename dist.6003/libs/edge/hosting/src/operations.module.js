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
import { APP_FILTER } from "@nestjs/core";
import { Readiness } from "../../../ops/lifecycle/src/index.js";
import { Log, Metrics } from "../../../ops/telemetry/src/index.js";
import { HttpErrorFilter } from "./error-filter.js";
import { HealthController, OwnState } from "./health.controller.js";
import { MetricsController } from "./metrics.controller.js";
import { ServedVersions } from "./served-versions.js";
export class OperationsModule {
    static register(options) {
        const { readiness, metrics, versions, log } = options;
        return {
            module: OperationsModule,
            controllers: [
                HealthController,
                MetricsController
            ],
            providers: [
                {
                    provide: Readiness,
                    useValue: readiness
                },
                {
                    provide: Metrics,
                    useValue: metrics
                },
                {
                    provide: ServedVersions,
                    useValue: versions
                },
                {
                    provide: OwnState,
                    useValue: new OwnState(options)
                },
                {
                    provide: Log,
                    useValue: log
                },
                {
                    provide: APP_FILTER,
                    useValue: new HttpErrorFilter(log)
                }
            ]
        };
    }
}
OperationsModule = _ts_decorate([
    Module({})
], OperationsModule);

//# sourceMappingURL=operations.module.js.map