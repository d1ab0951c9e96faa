import Commands
import HTTPTypes
import Hummingbird
import Model

/// `/v1/apps/{app}/consents`: what users said to being told of a subject. `vendor` says in whose dialect they are users; without it in our own.
extension NativeAPI {
    func consents(_ call: Call) async throws(Problem) -> Response {
        switch (call.request.method, call.segments.count) {
        case (.post, 3): return try await changeConsents(call)
        case (.get, 4): return try await showConsents(call)
        default: throw .methodNotAllowed("\(call.request.method) \(call.request.uri.path.prefix(64))")
        }
    }

    private func ask(_ command: UserCommand, _ call: Call) async throws(Problem) -> UserReply {
        let vendor = Vendor(rawValue: call.query("vendor") ?? Vendor.native.rawValue)
        guard vendor == .native || previews.adapters[vendor] != nil else {
            throw .invalid("vendor", "there is no such dialect")
        }
        let reply = try await perform(.user(command), call, app: AppID(call.segments[1]), vendor: vendor)
        guard case .user(let reply) = reply else { throw .unavailable(5) }
        return reply
    }

    private func changeConsents(_ call: Call) async throws(Problem) -> Response {
        try call.require("devices")
        var (fields, _) = try await fields(call)
        let subject = try fields.requiredText("subject", limit: CommandLimits.keyBytes)
        guard let state = ConsentState(rawValue: try fields.requiredText("state", limit: 32)) else {
            throw .invalid("state", "must be subscribed or unsubscribed")
        }
        let users = try fields.texts("users", limit: CommandLimits.usersPerCall)
        try fields.finish()
        guard !users.isEmpty else { throw .invalid("users", "name somebody") }
        let change = ConsentChange(subject: subject, state: state, users: users.map { .id(UserID($0)) })
        guard case .consented(let count) = try await ask(.consent([change]), call) else { throw .unavailable(5) }
        return .json(["changed": .int(count)])
    }

    private func showConsents(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        let id = call.segments[3]
        guard case .described(let found) = try await ask(.describe([.id(UserID(id))]), call) else {
            throw .unavailable(5)
        }
        guard let first = found.first, let user = first else { throw .notFound("no such user") }
        var consents = JSONObject()
        for (subject, state) in user.consents.sorted(by: { $0.key < $1.key }) {
            consents[subject] = .string(state.rawValue)
        }
        return .json(["user": .string(id), "consents": .object(consents)])
    }
}
