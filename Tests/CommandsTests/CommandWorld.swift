import Commands
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Model
import Store
import TestKit

/// A handler over a tenant of this test's own: what every test of commands starts with.
///
/// The clock begins at the database's time and is moved by hand. All tests share one database; only one that changes the schema takes a copy.
struct CommandWorld: Sendable {
    let stores: DatabaseStores
    let tenant: TenantID
    let clock: TestClock
    let identifiers = TestIdentifiers()
    let handler: CommandHandler
    var settings = JSONObject()

    let scope = AppScope(app: "shop", vendor: .rationalOwl)

    /// This process, as the handler knows it.
    var node: NodeID { stores.node }

    static func make(
        policy: CommandPolicy = CommandPolicy(),
        hasNode: Bool = true,
        hasCredential: Bool = true
    ) async throws -> CommandWorld {
        try await CommandWorld(.shared(), policy, hasNode, hasCredential)
    }

    /// With a database of its own.
    static func alone() async throws -> CommandWorld {
        try await CommandWorld(.copy(), CommandPolicy(), true, true)
    }

    private init(
        _ stores: DatabaseStores,
        _ policy: CommandPolicy,
        _ hasNode: Bool,
        _ hasCredential: Bool
    ) async throws {
        self.stores = stores
        tenant = stores.tenantID("acme")
        try await stores.provision("acme") { tenant in
            if !hasCredential {
                tenant.apps[0].platforms = [.ios: PlatformRoute(topic: "com.example.shop", credentials: [:])]
            }
        }
        clock = TestClock(try await stores.now())
        handler = CommandHandler(
            store: stores.commands,
            clock: clock,
            identifiers: identifiers,
            policy: policy,
            node: hasNode ? stores.node : nil
        )
    }

    var call: CallScope {
        CallScope(
            tenant: tenant,
            app: "shop",
            vendor: .rationalOwl,
            settings: BindingSettings(tenant: tenant, app: "shop", values: settings)
        )
    }

    func perform(_ commands: Command...) async -> CallResult { await handler.perform(commands, in: call) }

    /// Commands of any number, in calls that are as large as they may be.
    func performAll(_ commands: [Command]) async {
        for start in stride(from: 0, to: commands.count, by: CommandLimits.commandsPerCall) {
            let part = commands[start..<min(start + CommandLimits.commandsPerCall, commands.count)]
            _ = await handler.perform(Array(part), in: call)
        }
    }

    func reply(_ command: Command) async -> Reply? { await perform(command).replies.first }

    func registration(_ command: RegistrationCommand) async -> Reply? { await reply(.registration(command)) }

    func submit(_ submission: Submission) async -> CallResult { await perform(.submission(.submit(submission))) }

    /// Registers a device with a token made of `digit`.
    @discardableResult
    func device(_ key: VendorDeviceKey, digit: String = "a", phone: String? = nil) async -> Registered? {
        let registration = DeviceRegistration(
            key: key,
            platform: .ios,
            token: DeviceToken(stored: String(repeating: digit, count: 64)),
            phone: phone
        )
        let reply = await self.registration(.register(registration))
        if case .registration(.registered(let registered))? = reply { return registered }
        return nil
    }

    /// A sender that may send.
    func sender() async -> SenderID {
        guard case .registration(.sender(let id))? = await registration(.registerSender(name: "backend")) else {
            return ""
        }
        _ = await registration(.enrolSender(id, name: nil, address: nil))
        return id
    }

    /// The message that a submission made, as it is stored.
    func message(_ result: CallResult) async throws -> StoredMessage? {
        guard let id = messageID(result) else { return nil }
        return try await stores.message(id, in: tenant)
    }

    func messageID(_ result: CallResult) -> MessageID? {
        if case .submission(.accepted(let id, _))? = result.replies.first { id } else { nil }
    }

    /// The state of a message.
    func state(of message: MessageID) async throws -> MessageState? {
        try await stores.queries.message(message.description, in: tenant)?.state
    }
}

extension Submission {
    /// A text to phones.
    static func text(_ body: String = "b", to phones: String...) -> Submission {
        Submission(content: Content(body: body), audience: .listed(phones.map { Addressee(.phone($0)) }))
    }
}
