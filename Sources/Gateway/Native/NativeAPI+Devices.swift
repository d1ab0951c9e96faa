import Commands
import HTTPTypes
import Hummingbird
import Model
import Postgres

/// `/v1/devices` and `/v1/users`.
extension NativeAPI {
    func register(_ call: Call) async throws(Problem) -> Response {
        try call.require("devices")
        var (fields, bytes) = try await fields(call)
        let key = try repeatKey(call, bytes)
        let app = AppID(try fields.requiredText("app", limit: 64))
        let platformName = try fields.requiredText("platform", limit: 16)
        guard let platform = Platform(rawValue: platformName) else {
            throw .invalid("platform", "must be ios or android")
        }
        var environment: PushEnvironment?
        if let text = try fields.text("environment", limit: 16) {
            guard let known = PushEnvironment(rawValue: text) else {
                throw .invalid("environment", "must be production or sandbox")
            }
            environment = known
        }
        var token: DeviceToken?
        if let text = try fields.text("token") {
            token = platform == .ios ? DeviceToken(apns: text) : DeviceToken(fcm: text)
            if token == nil { throw .invalid("token", "is no device token of that platform") }
        }
        let phone = try fields.text("phone", limit: 32)
        let registration = DeviceRegistration(
            key: try fields.text("key", limit: 128).map { VendorDeviceKey($0) },
            platform: platform,
            environment: environment,
            token: token,
            user: try fields.text("user", limit: 256).map { UserID($0) },
            name: try fields.text("name", limit: 256),
            phone: phone.map { $0.filter(\.isNumber) },
            rawPhone: phone,
            attributes: try fields.object("attributes") ?? JSONObject(),
            tags: try fields.tags("tags"),
            clock: try fields.clock()
        )
        try fields.finish()
        return try await perform(.registration(.register(registration)), call, app: app, once: key) { reply in
            guard case .registration(.registered(let done)) = reply else { return nil }
            return .json(
                [
                    "id": .string(done.device.description), "key": .string(done.key.rawValue),
                    "wasActive": .bool(done.wasActive),
                    "replaced": .array(done.replaced.map { .string($0.description) }),
                ],
                status: done.wasActive ? 200 : 201
            )
        }
    }

    func listDevices(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        var after: DeviceID?
        if let text = call.query("after") {
            guard let id = DeviceID(text: text) else { throw .invalid("after", "is no device id") }
            after = id
        }
        let limit = try call.limit()
        let app = call.query("app").map { AppID($0) }
        let page = try await asked { () async throws(StoreError) in
            try await devices.devices(in: call.tenant, app: app, after: after, limit: limit)
        }
        return .json([
            "devices": .array(page.map(NativeShapes.device)),
            "next": page.count == limit ? page.last.map { .string($0.id.description) } ?? .null : .null,
        ])
    }

    private func deviceID(_ call: Call) throws(Problem) -> DeviceID {
        guard let id = DeviceID(text: call.segments[1]) else { throw .notFound("no such device") }
        return id
    }

    func device(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        let id = try deviceID(call)
        let facts = try await asked { () async throws(StoreError) in try await devices.device(id, in: call.tenant) }
        guard let facts else { throw .notFound("no such device") }
        return .json(NativeShapes.device(facts))
    }

    func patchDevice(_ call: Call) async throws(Problem) -> Response {
        try call.require("devices")
        let id = try deviceID(call)
        var (fields, bytes) = try await fields(call)
        let key = try repeatKey(call, bytes)
        let patch = DevicePatch(
            acceptsPush: try fields.flag("acceptsPush"),
            user: try fields.text("user", limit: 256).map { UserID($0) },
            name: try fields.text("name", limit: 256),
            phone: try fields.text("phone", limit: 32),
            tags: try fields.tags("tags"),
            clock: try fields.clock()
        )
        try fields.finish()
        return try await act(
            once: key,
            missing: "no such device",
            answer: { (facts: DeviceFacts?) in facts.map { .json(NativeShapes.device($0)) } },
            { (keep) async throws(StoreError) in
                try await devices.patch(id, patch, in: call.tenant, keeping: keep)
            }
        )
    }

    func eraseDevice(_ call: Call) async throws(Problem) -> Response {
        try call.require("devices")
        let id = try deviceID(call)
        return try await act(
            once: try repeatKey(call),
            missing: "no such device",
            answer: { (didErase: Bool) in didErase ? KeptAnswer(status: 204) : nil },
            { (keep) async throws(StoreError) in
                try await devices.erase(id, in: call.tenant, by: call.actor, keeping: keep)
            }
        )
    }

    func eraseUser(_ call: Call) async throws(Problem) -> Response {
        try call.require("devices")
        let user = UserID(call.segments[1])
        return try await act(
            once: try repeatKey(call),
            missing: "no such user",
            answer: { (count: Int) in .json(["erased": .int(count)]) },
            { (keep) async throws(StoreError) in
                try await devices.eraseUser(user, in: call.tenant, by: call.actor, keeping: keep)
            }
        )
    }

    func inbox(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        let id = try deviceID(call)
        var before: MessageID?
        if let text = call.query("before") {
            guard let message = MessageID(text: text) else { throw .invalid("before", "is no message id") }
            before = message
        }
        let limit = try call.limit()
        let items = try await asked { () async throws(StoreError) in
            try await devices.inbox(of: id, in: call.tenant, before: before, limit: limit)
        }
        return .json([
            "messages": .array(items.map(NativeShapes.inboxItem)),
            "next": items.count == limit
                ? items.last.map { .string($0.entry.notification.message.description) } ?? .null : .null,
        ])
    }
}
