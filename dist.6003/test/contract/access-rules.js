import { METHODS, ROUTES } from "../../libs/edge/methods/src/index.js";
/** Access rule of each gRPC method, by path. */ export const METHOD_RULES = Object.fromEntries(METHODS.map(({ path, access })=>[
        path,
        access
    ]));
/** Access rule of each HTTP route: of methods and others, as `GET /health`. */ export const ROUTE_RULES = {
    ...Object.fromEntries(METHODS.flatMap(({ http, alike = [], access })=>[
            http,
            ...alike
        ].flatMap((route)=>route === undefined ? [] : [
                [
                    `POST ${route}`,
                    access
                ]
            ]))),
    ...ROUTES
};

//# sourceMappingURL=access-rules.js.map