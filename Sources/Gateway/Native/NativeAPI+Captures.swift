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
        case 2 where method == .delete:
            let id = try captureID(call)
            let isRemoved = try await asked { () async throws(StoreError) in
                try await captureStore.remove(id, in: call.tenant, by: call.actor)
            }
            guard isRemoved else { throw .notFound(Self.noCapture) }
            return Response(status: .noContent)
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
        var fields = try await fields(call).fields
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
        let outcome = try await asked { () async throws(StoreError) -> CaptureStart in
            guard try await captureStore.hasBinding(order, in: call.tenant) else { return .missing }
            return try await captureStore.start(order, id: id, in: call.tenant, by: call.actor)
        }
        switch outcome {
        case .started(let id): return .json(CaptureShapes.facts(try await capture(id, call)), status: .created)
        case .missing:
            throw .notFound("app '\(app.rawValue.prefix(64))' has no binding of '\(vendor.rawValue.prefix(64))'")
        case .running: throw .invalid("vendor", "a capture of this binding runs already; stop it first")
        case .tooMany: throw .invalid("app", "at most \(CaptureLimits.capturesPerTenant) captures; remove one first")
        }
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
