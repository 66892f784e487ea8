/** The engine as the service sees it: a port with a native and a fake implementation. */ /** DI token and port. Every method that fails throws TesseraError. */ export class Engine {
}

//# sourceMappingURL=engine.js.map