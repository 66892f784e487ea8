/** Handlers of one service under the paths of its methods. */ export function service(name, methods) {
    return Object.entries(methods).map(([method, handler])=>[
            `/${name}/${method}`,
            handler
        ]);
}
/** A handler that needs the message and nothing of the call. */ export const plain = (answer)=>(read)=>answer(read());

//# sourceMappingURL=service.js.map