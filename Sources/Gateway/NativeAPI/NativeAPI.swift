package import AppleCalls
import CallAudit
package import Commands
import EngineStore
package import Explain
import Foundation
import GatewayHTTP
import HTTPTypes
import Hummingbird
package import Imports
package import Logging
import Metrics
package import Model
import NIOCore
import Observability
import Store

/// The native HTTP API under `/v1`: JSON, bearer keys, problem details for errors.
package struct NativeAPI: Sendable {
    /// 10 MiB: the largest image a message may carry.
    static let bodyLimitBytes = 10 << 20
    /// 1,000 rows: a page is one statement and one answer.
    static let pageLimit = 1000

    let callers: NativeCallers
    let handler: CommandHandler
    let handOver: @Sendable ([SliceLease]) -> Void
    let stores: NativeStores
    let identifiers: any IdentifierSource
    let previews: PayloadPreview
    let channels: AppleChannels
    let explainer: DeliveryExplainer
    let imports: DeviceImports
    let webhooks: WebhookRegistry
    let possession: PossessionPushes
    let reads: ReadAudit
    let eventStreams = EventStreamLimit()
    let clock: any WallClock
    let logger: Logger
    /// Notes the receipts of a call, for traces. Nil: nothing is traced.
    package var receipts: (@Sendable ([Command], [Reply], CallScope) -> Void)?

    package init(
        callers: NativeCallers,
        handler: CommandHandler,
        handOver: @escaping @Sendable ([SliceLease]) -> Void,
        stores: NativeStores,
        identifiers: any IdentifierSource,
        previews: PayloadPreview,
        apple: AppleCalls,
        explainer: DeliveryExplainer,
        imports: DeviceImports,
        webhooks: WebhookRegistry,
        clock: any WallClock,
        logger: Logger
    ) {
        self.callers = callers
        self.handler = handler
        self.handOver = handOver
        self.stores = stores
        self.identifiers = identifiers
        self.previews = previews
        channels = apple.channels
        possession = apple.possession
        self.explainer = explainer
        self.imports = imports
        self.webhooks = webhooks
        reads = ReadAudit(handler: handler)
        self.clock = clock
        self.logger = logger
    }

    var queries: PostgresQueryStore { stores.queries }
    var devices: PostgresDeviceStore { stores.devices }
    var audit: PostgresAuditStore { stores.audit }
    var captureStore: PostgresCaptureStore { stores.captures }

    /// Authenticates the caller, then reads, checks and executes one call of `operation`.
    func respond(to request: Request, _ context: CallContext, with operation: NativeOperation) async -> Response {
        context.named("native \(operation.id)")
        do throws(Problem) {
            let caller: NativeCaller
            if operation.scope == nil {
                caller = try callers.withoutKey(request, context)
            } else {
                caller = try await callers.authenticated(request, context)
            }
            defer { caller.reader.release() }
            do throws(Problem) {
                if let scope = operation.scope { try caller.require(scope) }
                guard !operation.isAdministrative || !callers.gate.isClosed else { throw .auditBehind }
                let response = try await operation.perform(self, caller, context.parameters)
                count(response)
                guard operation.isCompressible, request.method == .get else { return response }
                return BodyCompressor.compressed(response, for: request.headers)
            } catch {
                if error.code == .forbidden, !caller.isAccount { callers.refused(.scope, caller.grant) }
                throw error
            }
        } catch {
            return refuse(error, request, context.remoteAddress, path: operation.path)
        }
    }

    /// Answers with a problem, and logs it with the declared path: the path of the request contains the ids of users and devices.
    func refuse(_ problem: Problem, _ request: Request, _ remoteAddress: String?, path: String?) -> Response {
        if !problem.isLogged {
            logger.info(
                "native call refused",
                metadata: [
                    LogKey.status: "\(problem.status)", LogKey.reason: "\(problem.code.rawValue)",
                    LogKey.peer: "\(remoteAddress ?? "?")",
                    LogKey.route: "\(request.method) \(path ?? Self.unknownPath)",
                ]
            )
        }
        let response = problem.response
        count(response)
        // An answer to HEAD must not have a body, which would break the connection for the client.
        return request.method == .head ? response.createHeadResponse() : response
    }

    static let unknownPath = "(unknown path)"

    private func count(_ response: Response) {
        MetricName.nativeCalls.counter([("status", "\(response.status.code)")]).increment()
    }

    // MARK: Shared by the handlers

    /// The body's bytes.
    ///
    /// - Throws: `Problem`.
    static func body(of caller: NativeCaller) async throws(Problem) -> [UInt8] {
        try await caller.reader.bytes(of: caller.request, on: caller.channel, limitBytes: caller.bodyLimitBytes)
    }

    private func scope(_ caller: NativeCaller, _ app: AppID, _ vendor: Vendor) -> CallScope {
        CallScope(
            tenant: caller.tenant,
            app: app,
            vendor: vendor,
            settings: BindingSettings(tenant: caller.tenant, app: app),
            remoteAddress: caller.remoteAddress,
            recipientsPerDay: caller.grant.recipientsPerDay,
            actor: caller.actor.description
        ).traced(receipts != nil)
    }

    /// Executes one command and returns its reply. `vendor` selects the dialect, for commands that only one dialect supports.
    ///
    /// - Throws: `Problem` for a refusal.
    func perform(
        _ command: Command,
        _ caller: NativeCaller,
        app: AppID,
        vendor: Vendor = .native
    ) async throws(Problem) -> Reply {
        let scope = scope(caller, app, vendor)
        let result = await handler.perform([command], in: scope)
        receipts?([command], result.replies, scope)
        if !result.handover.isEmpty { handOver(result.handover) }
        guard let reply = result.replies.first else { throw .unavailable(5) }
        if case .refused(let refusal) = reply { throw problem(refusal, caller, app) }
        return reply
    }

    /// Executes one command and answers it. With an idempotency key the command is executed only once.
    ///
    /// - Throws: `Problem` for a refusal.
    func perform(
        _ command: Command,
        _ caller: NativeCaller,
        app: AppID,
        once key: IdempotencyKey?,
        answer: @escaping @Sendable (Reply) -> KeptAnswer?
    ) async throws(Problem) -> KeptAnswer {
        guard let key else {
            guard let answer = answer(try await perform(command, caller, app: app)) else { throw .unavailable(5) }
            return answer
        }
        switch await handler.perform(command, in: scope(caller, app, .native), keeping: Keep(key, answer: answer)) {
        case .success(let answer): return answer
        case .failure(let other):
            if case .refused(let refusal) = other.reply { throw problem(refusal, caller, app) }
            throw .unavailable(5)
        }
    }

    /// The problem of a refusal. A quota that is used up is reported.
    private func problem(_ refusal: Refusal, _ caller: NativeCaller, _ app: AppID) -> Problem {
        if case .rateLimited(_, let quota?) = refusal { callers.limiter.refused(quota, of: app, in: caller.tenant) }
        return Problem(refusal, app: app)
    }

    /// The repeat key of a call with a digest of its method, path, query and body. Nil when the call has no key.
    func repeatKey<Input>(_ key: String?, _ call: NativeCall<Input>) -> IdempotencyKey? {
        guard let key else { return nil }
        let head = Array(Self.head(of: call.caller.request).utf8)
        return IdempotencyKey(key: key, bodyHash: identifiers.sha256(head + call.bytes))
    }

    /// The part of a request, in addition to its body, that a repeated call must have in common with the first.
    static func head(of request: Request) -> String { "\(request.method) \(request.head.path ?? "")\n" }

    /// Runs a query; an unavailable store is answered with 503.
    ///
    /// - Throws: `Problem`.
    func asked<Value: Sendable>(_ query: () async throws(StoreError) -> Value) async throws(Problem) -> Value {
        do { return try await query() } catch {
            if case .exhausted(let quota) = error.code {
                throw .usedUp(quota, Int(quota.wait(at: clock.now()).components.seconds))
            }
            logger.warning("the store failed", metadata: [LogKey.error: "\(error)"])
            throw .unavailable(5)
        }
    }
}

extension KeptAnswer {
    /// A JSON answer.
    static func json(_ value: JSON, status: Int = 200) -> KeptAnswer {
        KeptAnswer(status: status, body: JSONWriter.bytes(value))
    }
}

extension Response {
    /// The response for an answer that is, or could be, stored under an idempotency key. Without a body it has no content type.
    static func kept(_ answer: KeptAnswer) -> Response {
        var response = Response(VendorResponse(status: answer.status, body: answer.body))
        if !answer.body.isEmpty { response.headers[.contentType] = "application/json; charset=utf-8" }
        return response
    }
}
