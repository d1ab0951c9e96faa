import AnswerShapes
package import GatewayHTTP
import HTTPTypes
package import Hummingbird
import Model

/// The web framework's router for the declared operations. Every declared path answers every method: with its operation, or with 405.
package struct NativeRouter: Sendable {
    private let responder: RouterResponder<CallContext>

    package init(_ api: NativeAPI) { self.init(api, operations: NativeOperations.all) }

    init(_ api: NativeAPI, operations: [NativeOperation]) {
        let router = Router(context: CallContext.self, options: .autoGenerateHeadEndpoints)
        var paths = DeclaredPaths()
        for operation in operations {
            router.on(RouterPath(operation.path), method: operation.method) { request, context in
                await api.respond(to: request, context, with: operation)
            }
            paths.add(operation.path, operation.method)
        }
        router.get(RouterPath(Self.documentPath)) { _, _ in Response.json(OpenAPIDocument.json) }
        paths.add(Self.documentPath, .get)
        // A middleware applies only to endpoints added after it: this one, added last, handles requests that no endpoint answers.
        router.add(middleware: Unanswered(api: api, paths: paths))
        responder = router.buildResponder()
    }

    package static let documentPath = "/openapi.json"

    /// Leaves the event loop of the call's connection: some operations, and the writing of some answers, take longer than other calls should wait.
    package func respond(to request: Request, context: CallContext) async throws -> Response {
        try await withTaskExecutorPreference(globalConcurrentExecutor) {
            try await responder.respond(to: request, context: context).writtenOnThreads()
        }
    }
}

/// The paths of the operations, with the methods that they have.
struct DeclaredPaths: Sendable {
    /// By path, such as `/v1/messages/{message}`.
    private var methods: [String: Set<String>] = [:]

    mutating func add(_ path: String, _ method: HTTPRequest.Method) {
        methods[path, default: []].insert(method.rawValue)
        if method == .get { methods[path, default: []].insert(HTTPRequest.Method.head.rawValue) }
    }

    /// The declared path that a path has, and its methods in order. Of several, that with the fewest fields.
    func match(_ path: String) -> (path: String, methods: [String])? {
        let segments = path.split(separator: "/")
        let found = methods.keys.filter { Self.fits($0, segments) }
            .min { ($0.count { $0 == "{" }, $0) < ($1.count { $0 == "{" }, $1) }
        return found.map { ($0, (methods[$0] ?? []).sorted()) }
    }

    private static func fits(_ declared: String, _ segments: [Substring]) -> Bool {
        let parts = declared.split(separator: "/")
        return parts.count == segments.count && zip(parts, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
}

/// Answers a path that belongs to no operation, and a method that its path does not have.
private struct Unanswered: RouterMiddleware {
    let api: NativeAPI
    let paths: DeclaredPaths

    func handle(
        _ request: Request,
        context: CallContext,
        next: (Request, CallContext) async throws -> Response
    ) async throws -> Response {
        guard let known = paths.match(request.uri.path) else {
            let problem = Problem.notFound("no such path; /openapi.json lists all paths")
            return api.refuse(problem, request, context.remoteAddress, path: nil)
        }
        let problem = Problem.methodNotAllowed(request.method.rawValue, allowed: known.methods)
        return api.refuse(problem, request, context.remoteAddress, path: known.path)
    }
}
