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
        let user = try await described(call)
        return .json(["user": .string(user.user.rawValue), "consents": .object(Self.shape(user.consents))])
    }
}
