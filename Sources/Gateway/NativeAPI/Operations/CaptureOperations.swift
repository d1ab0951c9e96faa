import AnswerShapes
import CaptureStore
import Commands
import EngineStore
import Foundation
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/captures`. Each operation needs `admin`: captured calls, masked or not, are too sensitive for dashboards.
enum CaptureOperations {
    static let all = [start, list, show, delete, stop]

    static let missing = "no such capture"

    static let id = PathField.required("capture", .captureID, "The capture's id.")

    struct StartInput: InputFields {
        let once = CommonInputs.repeatKey
        let app = BodyField.required("app", .app, "The app's id.")
        let vendor = BodyField.required("vendor", .vendor, "The vendor whose calls are recorded.")
        let minutes = BodyField.optional(
            "minutes",
            .integer(1...1440),
            default: 15,
            as: 15,
            "The capture ends after this number of minutes."
        )
        let exchanges = BodyField.optional(
            "exchanges",
            .integer(1...1000),
            default: 200,
            as: 200,
            "The capture ends after this number of calls."
        )
        let texts = BodyField.optional("texts", .flag, default: false, as: false, "Record texts in full.")
    }

    static let start = NativeOperation(
        "startCapture",
        .post,
        "/v1/captures",
        scope: .admin,
        "Record the calls of one of an app's bindings, masked.",
        input: StartInput(),
        example: ["app": "shop", "vendor": "upmc", "minutes": 15, "exchanges": 200],
        answers: [.json(201, CaptureShapes.facts.schema, "The capture.")],
        problems: [.notFound],
        NativeAPI.startCapture
    ).audited(.act)

    static let list = NativeOperation(
        "listCaptures",
        .get,
        "/v1/captures",
        scope: .admin,
        "List all captures, newest first.",
        input: NoInput(),
        answers: [
            .json(
                JSONSchema.object([("captures", .list(of: CaptureShapes.facts.schema), true)]).named("Captures"),
                "The captures."
            )
        ],
        NativeAPI.listCaptures
    )

    struct ShowInput: InputFields {
        let capture = CaptureOperations.id
        let after = QueryField.optional("after", .integer(0...Int.max), "`next` of the previous page.")
        let limit = CommonInputs.limit
    }

    static let show = NativeOperation(
        "showCapture",
        .get,
        "/v1/captures/{capture}",
        scope: .admin,
        "Show a capture with a page of the recorded calls.",
        input: ShowInput(),
        answers: [.json(CaptureShapes.withPage.schema, "The capture and a page of its calls.")],
        problems: [.notFound],
        NativeAPI.showCapture
    ).audited(.read)

    struct DeleteInput: InputFields {
        let capture = CaptureOperations.id
        let once = CommonInputs.repeatKey
    }

    static let delete = NativeOperation(
        "deleteCapture",
        .delete,
        "/v1/captures/{capture}",
        scope: .admin,
        "Delete a capture.",
        input: DeleteInput(),
        answers: [.empty("The capture is deleted.")],
        problems: [.notFound],
        NativeAPI.deleteCapture
    ).audited(.act)

    struct IDInput: InputFields {
        let capture = CaptureOperations.id
    }

    static let stop = NativeOperation(
        "stopCapture",
        .post,
        "/v1/captures/{capture}/stop",
        scope: .admin,
        "End a capture. A repeated call changes nothing and succeeds.",
        input: IDInput(),
        answers: [.json(CaptureShapes.facts.schema, "The capture.")],
        problems: [.notFound],
        NativeAPI.stopCapture
    ).audited(.act)
}

extension InputKind where Value == UUID {
    fileprivate static let captureID = InputKind(.uuid) { (json, _) throws(Problem) in
        guard let id = json.string.flatMap({ UUID(uuidString: $0) }) else { throw .notFound(CaptureOperations.missing) }
        return id
    }
}

extension NativeAPI {
    private func capture(_ id: UUID, in tenant: TenantID) async throws(Problem) -> CaptureFacts {
        let facts = try await asked { () async throws(StoreError) in try await captureStore.capture(id, in: tenant) }
        guard let facts else { throw .notFound(CaptureOperations.missing) }
        return facts
    }

    func startCapture(_ call: NativeCall<CaptureOperations.StartInput>) async throws(Problem) -> Response {
        let order = CaptureOrder(
            app: try call.app,
            vendor: try call.vendor,
            limits: CaptureLimits(duration: .seconds(try call.minutes * 60), exchangeCount: try call.exchanges),
            keepsTexts: try call.texts
        )
        let isBound = try await asked { () async throws(StoreError) in
            try await captureStore.hasBinding(order, in: call.tenant)
        }
        return try await act(
            CaptureRules.start(identifiers.uuid(at: clock.now()), order, isBound: isBound, by: call.actor),
            in: call.tenant,
            once: repeatKey(try call.once, call),
            refused: { Self.refusal(of: $0, order) }
        ) { start in
            guard case .started(let facts) = start else { return nil }
            return .json(CaptureShapes.facts.json(facts), status: 201)
        }
    }

    private static func refusal(of start: CaptureStart, _ order: CaptureOrder) -> Problem {
        switch start {
        case .started: .unavailable(5)
        case .missing:
            .notFound("app '\(order.app.rawValue.prefix(64))' has no binding of '\(order.vendor.rawValue.prefix(64))'")
        case .running: .invalid("vendor", "a capture of this binding is already running; stop it first")
        case .tooMany: .invalid("app", "at most \(CaptureLimits.capturesPerTenant) captures; delete one first")
        }
    }

    func listCaptures(_ call: NativeCall<NoInput>) async throws(Problem) -> Response {
        let found = try await asked { () async throws(StoreError) in try await captureStore.list(in: call.tenant) }
        return .json(["captures": .array(found.map { CaptureShapes.facts.json($0) })])
    }

    func showCapture(_ call: NativeCall<CaptureOperations.ShowInput>) async throws(Problem) -> Response {
        let id = try call.capture
        let limit = try call.limit
        let after = try call.after ?? 0
        let facts = try await capture(id, in: call.tenant)
        let exchanges = try await asked { () async throws(StoreError) in
            try await captureStore.exchanges(of: id, in: call.tenant, after: after, limit: limit)
        }
        call.found(exchanges.count)
        return .json(CaptureShapes.withPage.json(.init(facts: facts, exchanges: exchanges, limit: limit)))
    }

    func deleteCapture(_ call: NativeCall<CaptureOperations.DeleteInput>) async throws(Problem) -> Response {
        let id = try call.capture
        return try await act(
            CaptureRules.remove(id, by: call.actor),
            in: call.tenant,
            once: repeatKey(try call.once, call),
            missing: CaptureOperations.missing
        ) { isRemoved in
            isRemoved ? KeptAnswer(status: 204) : nil
        }
    }

    func stopCapture(_ call: NativeCall<CaptureOperations.IDInput>) async throws(Problem) -> Response {
        let id = try call.capture
        _ = try await asked { () async throws(StoreError) in
            try await handler.run(CaptureRules.stop(id, by: call.actor), in: call.tenant)
        }
        return .json(CaptureShapes.facts.json(try await capture(id, in: call.tenant)))
    }
}
