import Commands
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Model
import Store
import TestKit

/// A handler with a tenant for this test alone: the starting point of every test of commands.
///
/// The clock starts at the database's time and is moved by the test. All tests share one database; only a test that changes the schema uses a
/// copy.
struct CommandWorld: Sendable {
    let stores: DatabaseStores
    let tenant: TenantID
    let clock: TestClock
    let identifiers = TestIdentifiers()
    let handler: CommandHandler
    var settings = JSONObject()

    let scope = AppScope(app: "shop", vendor: .rationalOwl)

    /// This process, under the handler's name for it.
    var node: NodeID { stores.node }

    static func make(
        policy: CommandPolicy = CommandPolicy(),
        hasNode: Bool = true,
        hasCredential: Bool = true
    ) async throws -> CommandWorld {
        try await CommandWorld(.shared(), policy, hasNode, hasCredential)
    }

    /// A world with its own database.
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

    /// Performs any number of commands, in calls of the maximum size.
    func performAll(_ commands: [Command]) async {
        for start in stride(from: 0, to: commands.count, by: CommandLimits.commandsPerCall) {
            let part = commands[start..<min(start + CommandLimits.commandsPerCall, commands.count)]
            _ = await handler.perform(Array(part), in: call)
        }
    }

    func reply(_ command: Command) async -> Reply? { await perform(command).replies.first }

    func registration(_ command: RegistrationCommand) async -> Reply? { await reply(.registration(command)) }

    func sender(_ command: SenderCommand) async -> Reply? { await reply(.sender(command)) }

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

    /// A sender that is allowed to send.
    func sender() async -> SenderID {
        guard case .sender(.registered(let id))? = await sender(.register(name: "backend")) else {
            return ""
        }
        _ = await sender(.enrol(id, name: nil, address: nil))
        return id
    }

    /// The stored message of a submission.
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
    /// A text message to phone numbers.
    static func text(_ body: String = "b", to phones: String...) -> Submission {
        Submission(content: Content(body: body), audience: .listed(phones.map { Addressee(.phone($0)) }))
    }
}
