import Commands
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import Model
import NIOCore
import Postgres

/// The native HTTP API under `/v1`: JSON, bearer keys, problem details for errors.
struct NativeAPI: Sendable {
    /// 10 MiB: the largest image a message may carry.
    static let bodyLimitBytes = 10 << 20
    /// 1,000 rows: a page is one statement and one answer.
    static let pageLimit = 1000

    let directory: any CallDirectory
    let handler: CommandHandler
    let handOver: @Sendable ([SliceLease]) -> Void
    let queries: PostgresQueryStore
    let devices: PostgresDeviceStore
    let identifiers: any IdentifierSource
    let previews: PayloadPreview
    let audit: PostgresAuditStore
    let captureStore: PostgresCaptureStore
    let explainer: DeliveryExplainer
    let imports: DeviceImports
    let desk: WebhookDesk
    let followers: EventSeats
    let clock: any WallClock
    let logger: Logger

    /// One call with its caller known.
    struct Call: Sendable {
        var request: Request
        var grant: APIKeyGrant
        var remoteAddress: String?
        /// Path segments after `/v1`.
        var segments: [String]
        /// The call's connection; nil: of a test without one.
        var channel: (any Channel)?

        var tenant: TenantID { grant.tenant }
        var actor: AuditActor { .key(grant.name) }

        /// - Throws: `Problem` when the key lacks the scope.
        func require(_ scope: String) throws(Problem) {
            guard grant.scopes.contains(scope) || grant.scopes.contains("admin") else { throw .forbidden(scope) }
        }

        /// A query parameter, decoded.
        func query(_ name: String) -> String? {
            request.uri.queryParameters[name[...]].map { String($0).removingPercentEncoding ?? String($0) }
        }

        /// `limit` of the query, 1…1000, default 100.
        ///
        /// - Throws: `Problem` for anything else.
        func limit() throws(Problem) -> Int {
            guard let text = query("limit") else { return 100 }
            guard let limit = Int(text), (1...NativeAPI.pageLimit).contains(limit) else {
                throw .invalid("limit", "must be 1 to \(NativeAPI.pageLimit)")
            }
            return limit
        }
    }

    func respond(
        to request: Request,
        remoteAddress: String?,
        channel: (any Channel)? = nil
    ) async -> Response {
        let response: Response
        do {
            if request.uri.path == "/openapi.json" {
                response = .json(OpenAPIDocument.json)
            } else {
                response = try await route(authenticated(request, remoteAddress, channel))
            }
        } catch {
            response = error.response
            logger.info(
                "native call refused",
                metadata: [
                    LogKey.status: "\(error.status)", LogKey.reason: "\(error.code)",
                    LogKey.peer: "\(remoteAddress ?? "?")",
                    LogKey.route: "\(request.method) \(request.uri.path.prefix(64))",
                ]
            )
        }
        MetricName.nativeCalls.counter([("status", "\(response.status.code)")]).increment()
        return response
    }

    private func authenticated(
        _ request: Request,
        _ remoteAddress: String?,
        _ channel: (any Channel)?
    ) async throws(Problem) -> Call {
        guard let header = request.headers[.authorization], header.lowercased().hasPrefix("bearer ") else {
            throw .unauthorized
        }
        let secret = header.dropFirst(7).trimmingCharacters(in: .whitespaces)
        let grant: APIKeyGrant?
        do { grant = try await directory.apiKey(secret) } catch { throw .unavailable(5) }
        guard let grant else { throw .unauthorized }
        let segments = request.uri.path.split(separator: "/").dropFirst().map {
            $0.removingPercentEncoding ?? String($0)
        }
        return Call(
            request: request,
            grant: grant,
            remoteAddress: remoteAddress,
            segments: segments,
            channel: channel
        )
    }

    private func route(_ call: Call) async throws(Problem) -> Response {
        let method = call.request.method
        switch (call.segments.first, call.segments.count) {
        case ("messages", 1) where method == .post: return try await submit(call)
        case ("messages", 2) where method == .get: return try await message(call)
        case ("messages", 2) where method == .delete: return try await cancel(call)
        case ("messages", 3) where method == .post && MessageControl(rawValue: call.segments[2]) != nil:
            return try await control(call)
        case ("messages", 3...4) where method == .get && call.segments[2] == "deliveries":
            return try await deliveries(call)
        case ("devices", 1) where method == .post: return try await register(call)
        case ("devices", 1) where method == .get: return try await listDevices(call)
        case ("devices", 2) where method == .get: return try await device(call)
        case ("devices", 2) where method == .patch: return try await patchDevice(call)
        case ("devices", 2) where method == .delete: return try await eraseDevice(call)
        case ("devices", 3) where method == .get && call.segments[2] == "inbox": return try await inbox(call)
        case ("users", 2) where method == .delete: return try await eraseUser(call)
        case ("apps", 4...) where call.segments[2] == "groups":
            guard let route = GroupRoute(method, call.segments[4...]) else {
                throw .methodNotAllowed("\(method) \(call.request.uri.path.prefix(64))")
            }
            return try await group(call, route)
        case ("apps", 3...4) where call.segments[2] == "consents": return try await consents(call)
        case ("apps", 4) where call.segments[2] == "users": return try await users(call)
        case ("receipts", 1) where method == .post: return try await receipt(call)
        case ("media", 2) where method == .put: return try await putMedia(call)
        case ("imports", 1) where method == .post: return try await importDevices(call)
        case ("audit", 1) where method == .get: return try await listAudit(call)
        case ("analytics", 2) where method == .get && call.segments[1] == "funnel": return try await funnel(call)
        case ("events", 1) where method == .get: return try await events(call)
        case ("webhooks", 1...3): return try await webhooks(call)
        case ("captures", 1...3): return try await captures(call)
        case ("campaigns", 1...2): return try await campaigns(call)
        case ("messages", _), ("devices", _), ("users", _), ("receipts", _), ("media", _), ("analytics", _),
            ("events", _), ("imports", _), ("audit", _):
            throw .methodNotAllowed("\(method) \(call.request.uri.path.prefix(64))")
        default: throw .notFound("no such path; /openapi.json lists all")
        }
    }

    // MARK: Shared by the handlers

    /// The body as JSON fields.
    ///
    /// - Throws: `Problem`.
    func fields(_ call: Call) async throws(Problem) -> (fields: RequestFields, bytes: [UInt8]) {
        let bytes = try await body(call)
        do { return (try RequestFields(JSONParser.parse(bytes)), bytes) } catch let error as JSONError {
            throw .badRequest(error.description)
        } catch let problem as Problem { throw problem } catch { throw .badRequest("the body cannot be read") }
    }

    /// The body's bytes.
    ///
    /// - Throws: `Problem`.
    func body(_ call: Call) async throws(Problem) -> [UInt8] {
        do {
            return try await BodyReader.read(call.request, on: call.channel, limitBytes: Self.bodyLimitBytes)
        } catch .tooLarge {
            throw .tooLarge(Self.bodyLimitBytes)
        } catch { throw .tooSlow }
    }

    private func scope(_ call: Call, _ app: AppID, _ vendor: Vendor) -> CallScope {
        CallScope(
            tenant: call.tenant,
            app: app,
            vendor: vendor,
            settings: BindingSettings(tenant: call.tenant, app: app),
            remoteAddress: call.remoteAddress,
            actor: call.actor.description
        )
    }

    /// Carries out one command and gives its reply. `vendor`: in whose dialect, for what only one dialect has.
    ///
    /// - Throws: `Problem` for a refusal.
    func perform(
        _ command: Command,
        _ call: Call,
        app: AppID,
        vendor: Vendor = .native
    ) async throws(Problem) -> Reply {
        let result = await handler.perform([command], in: scope(call, app, vendor))
        if !result.handover.isEmpty { handOver(result.handover) }
        guard let reply = result.replies.first else { throw .unavailable(5) }
        if case .refused(let refusal) = reply { throw Problem(refusal, app: app) }
        return reply
    }

    /// Carries out one command and answers it; once, when the call has a repeat key.
    ///
    /// - Throws: `Problem` for a refusal.
    func perform(
        _ command: Command,
        _ call: Call,
        app: AppID,
        once key: IdempotencyKey?,
        answer: @escaping @Sendable (Reply) -> KeptAnswer?
    ) async throws(Problem) -> Response {
        guard let key else {
            guard let answer = answer(try await perform(command, call, app: app)) else { throw .unavailable(5) }
            return .kept(answer)
        }
        switch await handler.perform(command, in: scope(call, app, .native), keeping: Keep(key, answer: answer)) {
        case .success(let answer): return .kept(answer)
        case .failure(let other):
            if case .refused(let refusal) = other.reply { throw Problem(refusal, app: app) }
            throw .unavailable(5)
        }
    }

    /// Carries out one act of a store and answers it; once, when the call has a repeat key. `answer` nil: there is no such thing, nothing was done.
    ///
    /// - Throws: `Problem`.
    func act<Result: Sendable>(
        once key: IdempotencyKey?,
        missing: String,
        answer: @escaping @Sendable (Result) -> KeptAnswer?,
        _ act: (Keep<Result>?) async throws(StoreError) -> Kept<Result>
    ) async throws(Problem) -> Response {
        try await self.act(once: key, refused: { _ in .notFound(missing) }, answer: answer, act)
    }

    /// The same, for an act that is refused for more than one reason: `refused` says which, where `answer` has none.
    ///
    /// - Throws: `Problem`.
    func act<Result: Sendable>(
        once key: IdempotencyKey?,
        refused: (Result) -> Problem,
        answer: @escaping @Sendable (Result) -> KeptAnswer?,
        _ act: (Keep<Result>?) async throws(StoreError) -> Kept<Result>
    ) async throws(Problem) -> Response {
        let outcome = try await asked { () async throws(StoreError) in
            try await repeatingConflicts { () async throws(StoreError) in
                try await act(key.map { Keep($0, answer: answer) })
            }
        }
        switch outcome {
        case .done(let result):
            guard let answer = answer(result) else { throw refused(result) }
            return .kept(answer)
        case .repeated(let first): return .kept(first)
        case .mismatch: throw .conflict
        case .tooLarge:
            throw .invalid(
                "Idempotency-Key",
                "the answer has more than \(KeptAnswer.limitBytes) bytes: send without it"
            )
        }
    }

    /// The call's `Idempotency-Key` with a digest of what it came with: method, path, query and body.
    ///
    /// - Throws: `Problem` for one that cannot be kept.
    func repeatKey(_ call: Call, _ body: [UInt8] = []) throws(Problem) -> IdempotencyKey? {
        guard let key = try Self.repeatKey(of: call.request) else { return nil }
        return IdempotencyKey(key: key, bodyHash: identifiers.sha256(Array(Self.head(of: call.request).utf8) + body))
    }

    /// What of a request, beside its body, a repeat must have in common.
    static func head(of request: Request) -> String { "\(request.method) \(request.head.path ?? "")\n" }

    /// The `Idempotency-Key` header.
    ///
    /// - Throws: `Problem` for one that cannot be kept.
    static func repeatKey(of request: Request) throws(Problem) -> String? {
        guard let name = HTTPField.Name("idempotency-key"), let key = request.headers[name] else { return nil }
        guard !key.isEmpty, key.utf8.count <= CommandLimits.keyBytes else {
            throw .invalid("Idempotency-Key", "1 to \(CommandLimits.keyBytes) bytes")
        }
        return key
    }

    /// Runs a query; a store that is down is a 503.
    ///
    /// - Throws: `Problem`.
    func asked<Value: Sendable>(_ query: () async throws(StoreError) -> Value) async throws(Problem) -> Value {
        do { return try await query() } catch {
            logger.warning("the store refused", metadata: [LogKey.error: "\(error)"])
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
    /// An answer that is, or could be, kept. Without a body it has no content type.
    static func kept(_ answer: KeptAnswer) -> Response {
        var response = Response(VendorResponse(status: answer.status, body: answer.body))
        if !answer.body.isEmpty { response.headers[.contentType] = "application/json; charset=utf-8" }
        return response
    }
}
