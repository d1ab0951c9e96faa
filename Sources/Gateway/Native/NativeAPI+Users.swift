import Commands
import HTTPTypes
import Hummingbird
import Model

/// `/v1/apps/{app}/users/{user}`: what is known of a user beside devices. `vendor` says in whose dialect it is a user; without it in our own.
extension NativeAPI {
    func users(_ call: Call) async throws(Problem) -> Response {
        switch call.request.method {
        case .get:
            try call.require("read")
            return .json(try await shown(call))
        case .patch: return try await patchUser(call)
        default: throw .methodNotAllowed("\(call.request.method) \(call.request.uri.path.prefix(64))")
        }
    }

    /// Carries out a command in the dialect that the call names.
    ///
    /// - Throws: `Problem`.
    func ask(_ command: UserCommand, _ call: Call) async throws(Problem) -> UserReply {
        let vendor = Vendor(rawValue: call.query("vendor") ?? Vendor.native.rawValue)
        guard vendor == .native || previews.adapters[vendor] != nil else {
            throw .invalid("vendor", "there is no such dialect")
        }
        let reply = try await perform(.user(command), call, app: AppID(call.segments[1]), vendor: vendor)
        guard case .user(let reply) = reply else { throw .unavailable(5) }
        return reply
    }

    /// The user whom the path names.
    ///
    /// - Throws: `Problem`: `.notFound`.
    func described(_ call: Call) async throws(Problem) -> DescribedUser {
        guard case .described(let found) = try await ask(.describe([.id(UserID(call.segments[3]))]), call) else {
            throw .unavailable(5)
        }
        guard let first = found.first, let user = first else { throw .notFound("no such user") }
        return user
    }

    /// `{"attributes"?: {name: value, or null to take it away}, "acceptsPush"?}`. Who is not known becomes known.
    private func patchUser(_ call: Call) async throws(Problem) -> Response {
        try call.require("devices")
        var (fields, _) = try await fields(call)
        let attributes = try fields.object("attributes") ?? JSONObject()
        let acceptsPush = try fields.flag("acceptsPush")
        try fields.finish()
        let changes = attributes.pairs.map { name, value in
            AttributeChange(name, value == .null ? .remove : .set(value))
        }
        let patch = UserPatch(user: .id(UserID(call.segments[3])), changes: changes, acceptsPush: acceptsPush)
        guard case .tracked(let patches, _) = try await ask(.track(UserBatch(patches: [patch])), call) else {
            throw .unavailable(5)
        }
        if let first = patches.first, let refusal = first { throw Problem(refusal, app: AppID(call.segments[1])) }
        return .json(try await shown(call))
    }

    private func shown(_ call: Call) async throws(Problem) -> JSON {
        let user = try await described(call)
        return [
            "user": .string(user.user.rawValue), "attributes": .object(user.attributes),
            "consents": .object(Self.shape(user.consents)),
            "aliases": .array(user.aliases.map { ["label": .string($0.label), "name": .string($0.name)] }),
            "acts": .array(
                user.tallies.map {
                    [
                        "kind": .string($0.kind.rawValue), "name": .string($0.name), "count": .int($0.count),
                        "firstAt": .int($0.firstAt.milliseconds), "lastAt": .int($0.lastAt.milliseconds),
                    ]
                }
            ),
            // Tokens are shown nowhere.
            "devices": .array(
                user.devices.map {
                    [
                        "key": .string($0.key.rawValue), "platform": .string($0.platform.rawValue),
                        "acceptsPush": .bool($0.acceptsPush), "hasToken": .bool($0.token != nil),
                    ]
                }
            ),
        ]
    }

    static func shape(_ consents: [String: ConsentState]) -> JSONObject {
        JSONObject(consents.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value.rawValue)) })
    }
}
