package import HTTPTypes
package import Hummingbird
package import Logging
package import Model
import Observability
package import Traces
import Tracing

/// Gives each call of a listener its identifier: the caller's `X-Request-Id` if it is usable, otherwise a new one. The response contains it, and everything that
/// the call does can name it (`CallID.current`).
package struct IdentifiedResponder<Base: HTTPResponder>: HTTPResponder where Base.Context == CallContext {
    private let base: Base
    private let identifiers: any IdentifierSource
    private let clock: any WallClock
    private let logger: Logger
    private let tracer: GatewayTracer?

    /// - Parameters:
    ///   - base: answers the calls.
    ///   - identifiers: makes the identifiers.
    ///   - clock: the time in them.
    ///   - logger: receives errors that `base` did not answer.
    ///   - tracer: makes the spans of sampled calls; nil: nothing is traced.
    package init(
        _ base: Base,
        identifiers: any IdentifierSource,
        clock: any WallClock,
        logger: Logger,
        tracer: GatewayTracer? = nil
    ) {
        self.base = base
        self.identifiers = identifiers
        self.clock = clock
        self.logger = logger
        self.tracer = tracer
    }

    package func respond(to request: Request, context: CallContext) async throws -> Response {
        let id = identifier(of: request)
        return await CallID.$current.withValue(id) {
            var response: Response
            if let span = tracer.flatMap({ span(of: request, $0) }) {
                response = await traced(span, id, request, context)
            } else {
                response = await answer(request, context)
            }
            if let name = HTTPField.Name.requestID { response.headers[name] = id.description }
            return response
        }
    }

    @inline(never)
    private func identifier(of request: Request) -> CallID {
        HTTPField.Name.requestID.flatMap { request.headers[$0] }.flatMap { CallID($0) }
            ?? CallID(identifiers.uuid(at: clock.now()))
    }

    @inline(never)
    private func span(of request: Request, _ tracer: GatewayTracer) -> GatewaySpan? {
        func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { request.headers[$0] } }
        return tracer.callBegan(
            parent: header(TraceContext.parentHeader),
            state: header(TraceContext.stateHeader),
            name: request.method.rawValue
        )
    }

    private func traced(_ span: GatewaySpan, _ id: CallID, _ request: Request, _ context: CallContext) async -> Response
    {
        var context = context
        context.span = span
        let response = await ServiceContext.withValue(span.context) { [context] in await answer(request, context) }
        span.attributes["http.request.method"] = "\(request.method.rawValue)"
        span.attributes["http.response.status_code"] = response.status.code
        span.attributes["request.id"] = "\(id)"
        if response.status.code >= 500 { span.setStatus(SpanStatus(code: .error)) }
        span.end()
        return response
    }

    private func answer(_ request: Request, _ context: CallContext) async -> Response {
        do {
            return try await base.respond(to: request, context: context)
        } catch {
            return refusal(error, request, context)
        }
    }

    @inline(never)
    private func refusal(_ error: any Error, _ request: Request, _ context: CallContext) -> Response {
        let peer = context.remoteAddress ?? "?"
        logger.error("a call failed", metadata: [LogKey.error: "\(error)", LogKey.peer: "\(peer)"])
        let response = try? (error as? any HTTPResponseError)?.response(from: request, context: context)
        return response ?? Response(status: .internalServerError)
    }
}

extension HTTPField.Name {
    /// `X-Request-Id`, the identifier of a call.
    package static let requestID = HTTPField.Name("X-Request-Id")
}
