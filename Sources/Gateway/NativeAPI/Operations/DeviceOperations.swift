import AnswerShapes
import Commands
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/devices`.
enum DeviceOperations {
    static let all = [register, list, show, update, erase, listInbox, vouch]

    static let id = PathField.required("device", .id(DeviceID.self, missing: "no such device"), "The device's id.")

    struct RegisterInput: InputFields {
        let once = CommonInputs.repeatKey
        let app = BodyField.required("app", .app, "The app's id.")
        let platform = BodyField.required("platform", .word(Platform.self), "The device's platform.")
        let environment = BodyField.optional(
            "environment",
            .word(PushEnvironment.self),
            "Apple's environment of the token; null: determined by the app's credentials."
        )
        let token = BodyField.optional(
            "token",
            .text().example("8d7c2b1a0f9e8d7c6b5a49382716050403020100f0e0d0c0b0a090807060504f"),
            "The push token; null: the device has none yet. It is never shown in full."
        )
        let key = BodyField.optional(
            "key",
            .deviceKey,
            "The caller's name for the device; null: the gateway creates a key. A known key updates its registration."
        )
        let user = BodyField.optional("user", .userOrEmpty, "The user who is signed in; empty: unchanged.")
        let name = BodyField.optional("name", .text(256), "The user's display name.")
        let phone = BodyField.optional(
            "phone",
            .text(32).example("+82 10-1234-5678"),
            "The phone number. Only its digits are compared."
        )
        let attributes = BodyField.optional(
            "attributes",
            .anyObject.example(["plan": "gold"]),
            "Any members, stored with the registration."
        )
        let tags = BodyField.optional("tags", .tags, "The complete new set of the device's tags; null: unchanged.")
        let timeZone = BodyField.optional("timeZone", .timeZone, "The device's time zone; null: unchanged.")
        let receivingWindow = BodyField.optional(
            "receivingWindow",
            .window,
            "When the device may be notified, in its time zone; null: unchanged. The whole day removes the window."
        )
        let client = BodyField.optional("client", .client, "Facts about the app and the system; null: unchanged.")
    }

    static let registered = AnswerShape<Registered>(
        "RegisteredDevice",
        [
            .id("id", "The device's id.") { $0.device.description },
            .text("key", "The device's key.", example: "phone-1") { $0.key.rawValue },
            .flag("wasActive", "Whether the key was registered before.") { $0.wasActive },
            .texts("replaced", "Identities whose token or phone this registration took over.") {
                $0.replaced.map(\.description)
            },
        ]
    )

    static let register = NativeOperation(
        "registerDevice",
        .post,
        "/v1/devices",
        scope: .devices,
        "Register a device, or update the registration of its key.",
        input: RegisterInput(),
        example: [
            "app": "shop", "platform": "ios", "environment": "production", "key": "phone-1", "user": "u-1",
            "token": "8d7c2b1a0f9e8d7c6b5a49382716050403020100f0e0d0c0b0a090807060504f", "tags": ["seoul", "vip"],
            "timeZone": "Asia/Seoul", "receivingWindow": ["from": "0800", "to": "2200"],
            "client": ["appVersion": "2.4.3", "os": "iOS", "osVersion": "17.5", "model": "iPhone15,2"],
        ],
        answers: [
            .json(201, registered.schema, "The key was not registered before."),
            .json(200, registered.schema, "The registration of a known key was updated."),
        ],
        problems: [.notFound, .quotaUsedUp],
        NativeAPI.registerDevice
    )

    struct ListInput: InputFields {
        let app = CommonInputs.appFilter
        let vendor = QueryField.optional("vendor", .vendor, "Only devices with an identity of this vendor.")
        let user = QueryField.optional("user", .user, "Only devices with an active identity of this user.")
        let key = QueryField.optional("key", .deviceKey, "Only devices with an active identity of this key.")
        let phone = QueryField.optional(
            "phone",
            .text(32, atLeast: 1).example("+82 10-1234-5678"),
            "Only devices with an active identity of this phone number. Only its digits are compared."
        )
        let token = QueryField.optional(
            "token",
            .text(4 * 1024, atLeast: 1),
            "Only the device with this push token. Answers show the token masked."
        )
        let after = CommonInputs.after(DeviceID.self)
        let limit = CommonInputs.limit
    }

    static let page = AnswerPage("devices", NativeShapes.device, next: .uuid)

    static let list = NativeOperation(
        "listDevices",
        .get,
        "/v1/devices",
        scope: .read,
        "List devices by id, or look devices up by user, key, phone or token.",
        input: ListInput(),
        answers: [.json(page.schema, "A page of devices.")],
        NativeAPI.listDevices
    ).audited(.read)

    struct IDInput: InputFields {
        let device = DeviceOperations.id
    }

    static let show = NativeOperation(
        "showDevice",
        .get,
        "/v1/devices/{device}",
        scope: .read,
        "Show a device with its identities and its count of unread messages.",
        input: IDInput(),
        answers: [.json(NativeShapes.device.schema, "The device.")],
        problems: [.notFound],
        NativeAPI.showDevice
    ).audited(.read)

    struct UpdateInput: InputFields {
        let device = DeviceOperations.id
        let once = CommonInputs.repeatKey
        let acceptsPush = BodyField.optional("acceptsPush", .flag, "Whether pushes are sent to it; null: unchanged.")
        let user = BodyField.optional("user", .userOrEmpty, "The user who is signed in; null: unchanged.")
        let name = BodyField.optional("name", .text(256), "The user's display name; null: unchanged.")
        let phone = BodyField.optional("phone", .text(32), "The phone number; null: unchanged.")
        let tags = BodyField.optional("tags", .tags, "The complete new set of tags; null: unchanged.")
        let timeZone = BodyField.optional("timeZone", .timeZone, "The device's time zone; null: unchanged.")
        let receivingWindow = BodyField.optional(
            "receivingWindow",
            .window,
            "When the device may be notified, in its time zone; null: unchanged. The whole day removes the window."
        )
    }

    static let update = NativeOperation(
        "updateDevice",
        .patch,
        "/v1/devices/{device}",
        scope: .devices,
        "Change all active identities of a device.",
        input: UpdateInput(),
        example: ["acceptsPush": false, "tags": ["seoul"]],
        answers: [.json(NativeShapes.device.schema, "The device.")],
        problems: [.notFound],
        NativeAPI.updateDevice
    )

    struct EraseInput: InputFields {
        let device = DeviceOperations.id
        let once = CommonInputs.repeatKey
    }

    static let erase = NativeOperation(
        "eraseDevice",
        .delete,
        "/v1/devices/{device}",
        scope: .devices,
        "Erase a device, its identities, and their names in deliveries and events. Writes an audit entry.",
        input: EraseInput(),
        answers: [.empty("The device is erased.")],
        problems: [.notFound],
        NativeAPI.eraseDevice
    ).audited(.act)

    struct VouchInput: InputFields {
        let identity = PathField.required(
            "identity",
            .id(IdentityID.self, missing: "no such active identity"),
            "The identity's id, `identities[].id` of a device."
        )
        let once = CommonInputs.repeatKey
        let user = BodyField.optional(
            "user",
            .user,
            "The user that is confirmed; if the identity has another one now, nothing is changed. Null: the present user."
        )
    }

    static let vouch = NativeOperation(
        "vouchIdentity",
        .post,
        "/v1/identities/{identity}/vouch",
        scope: .devices,
        "Confirm the user of an identity. Writes an audit entry. A repeated call changes nothing and succeeds.",
        input: VouchInput(),
        answers: [.json(NativeShapes.identity.schema, "The identity, which is `vouched` now.")],
        problems: [.notFound],
        NativeAPI.vouchIdentity
    ).audited(.act)

    struct InboxInput: InputFields {
        let device = DeviceOperations.id
        let after = CommonInputs.after(MessageID.self)
        let limit = CommonInputs.limit
    }

    static let inbox = AnswerPage("messages", NativeShapes.inboxItem, next: .uuid, title: "Inbox")

    static let listInbox = NativeOperation(
        "listDeviceInbox",
        .get,
        "/v1/devices/{device}/inbox",
        scope: .read,
        "List a device's messages, newest first.",
        input: InboxInput(),
        answers: [.json(inbox.schema, "A page of messages.")],
        problems: [.notFound],
        NativeAPI.listDeviceInbox
    ).audited(.read)
}

extension NativeAPI {
    func registerDevice(_ call: NativeCall<DeviceOperations.RegisterInput>) async throws(Problem) -> Response {
        let platform = try call.platform
        var token: DeviceToken?
        if let text = try call.token {
            token = platform == .ios ? DeviceToken(apns: text) : DeviceToken(fcm: text)
            if token == nil { throw .invalid("token", "is not a device token of that platform") }
        }
        let phone = try call.phone
        var registration = DeviceRegistration(
            key: try call.key,
            platform: platform,
            environment: try call.environment,
            token: token,
            user: try call.user,
            name: try call.name,
            phone: phone.map { $0.filter(\.isNumber) },
            rawPhone: phone,
            attributes: try call.attributes ?? JSONObject(),
            tags: try call.tags,
            clock: DeviceClock(timeZone: try call.timeZone, window: try call.receivingWindow)
        )
        registration.assurance = .vouched
        registration.client = try call.client ?? ClientFacts()
        let key = repeatKey(try call.once, call)
        let answer = try await perform(
            .registration(.register(registration)),
            call.caller,
            app: try call.app,
            once: key
        ) { reply in
            guard case .registration(.registered(let done)) = reply else { return nil }
            return .json(DeviceOperations.registered.json(done), status: done.wasActive ? 200 : 201)
        }
        return .kept(answer)
    }

    func listDevices(_ call: NativeCall<DeviceOperations.ListInput>) async throws(Problem) -> Response {
        let limit = try call.limit
        let filter = DeviceFilter(
            app: try call.app,
            vendor: try call.vendor,
            user: try call.user,
            key: try call.key,
            phone: try call.phone.map { $0.filter(\.isNumber) },
            token: try call.token
        )
        let after = try call.after
        let page = try await asked { () async throws(StoreError) in
            try await devices.devices(in: call.tenant, filter, after: after, limit: limit)
        }
        call.found(page.items.count)
        return .json(DeviceOperations.page.json(page))
    }

    func showDevice(_ call: NativeCall<DeviceOperations.IDInput>) async throws(Problem) -> Response {
        let facts = try await device(try call.device, in: call.tenant)
        call.found(1)
        return .json(NativeShapes.device.json(facts))
    }

    /// Returns a device of the tenant.
    ///
    /// - Throws: `Problem` if it does not exist.
    func device(_ id: DeviceID, in tenant: TenantID) async throws(Problem) -> DeviceFacts {
        let facts = try await asked { () async throws(StoreError) in try await devices.device(id, in: tenant) }
        guard let facts else { throw .notFound("no such device") }
        return facts
    }

    func updateDevice(_ call: NativeCall<DeviceOperations.UpdateInput>) async throws(Problem) -> Response {
        let id = try call.device
        let patch = DevicePatch(
            acceptsPush: try call.acceptsPush,
            user: try call.user,
            name: try call.name,
            phone: try call.phone,
            tags: try call.tags,
            clock: DeviceClock(timeZone: try call.timeZone, window: try call.receivingWindow)
        )
        return try await act(
            DeviceChangeRules.change(id, patch),
            in: call.tenant,
            once: repeatKey(try call.once, call),
            missing: "no such device"
        ) { facts in
            facts.map { .json(NativeShapes.device.json($0)) }
        }
    }

    func vouchIdentity(_ call: NativeCall<DeviceOperations.VouchInput>) async throws(Problem) -> Response {
        try await act(
            DeviceChangeRules.vouch(try call.identity, of: try call.user, by: call.actor),
            in: call.tenant,
            once: repeatKey(try call.once, call),
            missing: "no such active identity of that user"
        ) { identity in
            identity.map { .json(NativeShapes.identity.json($0)) }
        }
    }

    func eraseDevice(_ call: NativeCall<DeviceOperations.EraseInput>) async throws(Problem) -> Response {
        let id = try call.device
        return try await act(
            DeviceChangeRules.erase(id, by: call.actor),
            in: call.tenant,
            once: repeatKey(try call.once, call),
            missing: "no such device"
        ) { didErase in
            didErase ? KeptAnswer(status: 204) : nil
        }
    }

    func listDeviceInbox(_ call: NativeCall<DeviceOperations.InboxInput>) async throws(Problem) -> Response {
        let id = try call.device
        let after = try call.after
        let limit = try call.limit
        let items = try await asked { () async throws(StoreError) in
            try await devices.inbox(of: id, in: call.tenant, before: after, limit: limit)
        }
        // A page with messages shows that the device exists.
        if items.isEmpty { _ = try await device(id, in: call.tenant) }
        call.found(items.count)
        let page = DeviceOperations.inbox.json(
            items,
            limit: limit,
            withContent: { call.caller.mayReadContent(of: $0.app) },
            next: { .string($0.entry.notification.message.description) }
        )
        return .json(page)
    }
}
