package import GatewayHTTP
import HTTPTypes
package import Hummingbird
import Model

/// The web framework's router for the declared operations. Every declared path answers every HTTP method: with its operation, or with 405.
package struct NativeRouter: Sendable {
    private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete, .head, .options, .trace]

    private let responder: RouterResponder<CallContext>

    package init(_ api: NativeAPI) { self.init(api, operations: NativeOperations.all) }

    init(_ api: NativeAPI, operations: [NativeOperation]) {
        let router = Router(context: CallContext.self, options: .autoGenerateHeadEndpoints)
        for (path, operations) in Dictionary(grouping: operations, by: \.path) {
            var declared: [HTTPRequest.Method: NativeOperation] = [:]
            for operation in operations { declared[operation.method] = operation }
            for (method, operation) in declared {
                router.on(RouterPath(path), method: method) { request, context in
                    await api.respond(to: request, context, with: operation)
                }
            }
            Self.refuseOthers(router, path, api, allowed: Array(declared.keys))
        }
        router.get(RouterPath(Self.documentPath)) { _, _ in Response.json(OpenAPIDocument.json) }
        Self.refuseOthers(router, Self.documentPath, api, allowed: [.get])
        // A middleware applies only to endpoints added after it: this one, added last, handles requests that no endpoint answers.
        router.add(middleware: UnknownPath(api: api))
        responder = router.buildResponder()
    }

    package static let documentPath = "/openapi.json"

    private static func refuseOthers(
        _ router: Router<CallContext>,
        _ path: String,
        _ api: NativeAPI,
        allowed: [HTTPRequest.Method]
    ) {
        let names = (allowed + (allowed.contains(.get) ? [.head] : [])).map(\.rawValue).sorted()
        for method in methods where !names.contains(method.rawValue) {
            router.on(RouterPath(path), method: method) { request, context in
                api.refuse(
                    .methodNotAllowed(request.method.rawValue, allowed: names),
                    request,
                    context.remoteAddress,
                    path: path
                )
            }
        }
    }

    package func respond(to request: Request, context: CallContext) async throws -> Response {
        try await responder.respond(to: request, context: context)
    }
}

/// Answers a path that belongs to no operation.
private struct UnknownPath: RouterMiddleware {
    let api: NativeAPI

    func handle(
        _ request: Request,
        context: CallContext,
        next: (Request, CallContext) async throws -> Response
    ) async throws -> Response {
        api.refuse(.notFound("no such path; /openapi.json lists all paths"), request, context.remoteAddress, path: nil)
    }
}
