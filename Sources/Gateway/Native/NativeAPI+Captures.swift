import Commands
import FoundationEssentials
import Hummingbird
import Model
import Postgres

/// `/v1/captures`. Every one needs `admin`: what callers sent, masked or not, is not for dashboards.
extension NativeAPI {
    func captures(_ call: Call) async throws(Problem) -> Response {
        try call.require("admin")
        let method = call.request.method
        switch call.segments.count {
        case 1 where method == .post: return try await startCapture(call)
        case 1 where method == .get:
            let found = try await asked { () async throws(StoreError) in try await captureStore.list(in: call.tenant) }
            return .json(["captures": .array(found.map(CaptureShapes.facts))])
        case 2 where method == .get: return try await showCapture(call)
        case 2 where method == .delete: return try await removeCapture(call)
        case 3 where method == .post && call.segments[2] == "stop":
            let id = try captureID(call)
            _ = try await asked { () async throws(StoreError) in
                try await captureStore.stop(id, in: call.tenant, by: call.actor)
            }
            return .json(CaptureShapes.facts(try await capture(id, call)))
        default: throw .methodNotAllowed("\(method) \(call.request.uri.path.prefix(64))")
        }
    }

    private static let noCapture = "no such capture"

    private func captureID(_ call: Call) throws(Problem) -> UUID {
        guard let id = UUID(uuidString: call.segments[1]) else { throw .notFound(Self.noCapture) }
        return id
    }

    private func capture(_ id: UUID, _ call: Call) async throws(Problem) -> CaptureFacts {
        let facts = try await asked { () async throws(StoreError) in
            try await captureStore.capture(id, in: call.tenant)
        }
        guard let facts else { throw .notFound(Self.noCapture) }
        return facts
    }

    private func startCapture(_ call: Call) async throws(Problem) -> Response {
        var (fields, bytes) = try await fields(call)
        let key = try repeatKey(call, bytes)
        let app = AppID(try fields.requiredText("app", limit: 128))
        let vendor = Vendor(try fields.requiredText("vendor", limit: 64))
        let minutes = try fields.integer("minutes", in: 1...1440) ?? 15
        let exchanges = try fields.integer("exchanges", in: 1...1000) ?? 200
        let order = CaptureOrder(
            app: app,
            vendor: vendor,
            limits: CaptureLimits(duration: .seconds(minutes * 60), exchangeCount: Int(exchanges)),
            keepsTexts: try fields.flag("texts") ?? false
        )
        try fields.finish()
        let id = identifiers.uuid(at: clock.now())
        return try await act(
            once: key,
            refused: { Self.refusal(of: $0, order) },
            answer: { (start: CaptureStart) in
                guard case .started(let facts) = start else { return nil }
                return .json(CaptureShapes.facts(facts), status: 201)
            },
            { (keep) async throws(StoreError) in
                try await captureStore.start(order, id: id, in: call.tenant, by: call.actor, keeping: keep)
            }
        )
    }

    private static func refusal(of start: CaptureStart, _ order: CaptureOrder) -> Problem {
        switch start {
        case .started: .unavailable(5)
        case .missing:
            .notFound("app '\(order.app.rawValue.prefix(64))' has no binding of '\(order.vendor.rawValue.prefix(64))'")
        case .running: .invalid("vendor", "a capture of this binding runs already; stop it first")
        case .tooMany: .invalid("app", "at most \(CaptureLimits.capturesPerTenant) captures; remove one first")
        }
    }

    private func removeCapture(_ call: Call) async throws(Problem) -> Response {
        let id = try captureID(call)
        return try await act(
            once: try repeatKey(call),
            missing: Self.noCapture,
            answer: { (isRemoved: Bool) in isRemoved ? KeptAnswer(status: 204) : nil },
            { (keep) async throws(StoreError) in
                try await captureStore.remove(id, in: call.tenant, by: call.actor, keeping: keep)
            }
        )
    }

    private func showCapture(_ call: Call) async throws(Problem) -> Response {
        let id = try captureID(call)
        let limit = try call.limit()
        guard let after = Int(call.query("after") ?? "0"), after >= 0 else { throw .invalid("after", "is no number") }
        guard var object = CaptureShapes.facts(try await capture(id, call)).object else { throw .unavailable(5) }
        let page = try await asked { () async throws(StoreError) in
            try await captureStore.exchanges(of: id, in: call.tenant, after: after, limit: limit)
        }
        object["page"] = .array(page.map(CaptureShapes.exchange))
        object["next"] = page.count == limit ? page.last.map { .int($0.sequence) } ?? .null : .null
        return .json(.object(object))
    }
}
