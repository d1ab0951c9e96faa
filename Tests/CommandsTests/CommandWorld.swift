import Commands
import DeliveryEngine
import Model
import TestKit

/// A handler over a store in memory: what every test of commands starts with.
struct Desk {
    let clock = TestClock()
    let database: MemoryDatabase
    let identifiers = TestIdentifiers()
    let handler: CommandHandler
    var settings = JSONObject()

    static let tenant: TenantID = "acme"
    static let scope = AppScope(app: "shop", vendor: .rationalOwl)

    init(policy: CommandPolicy = CommandPolicy(), node: NodeID? = "node", hasCredential: Bool = true) {
        database = MemoryDatabase(clock: clock)
        let credentials: [PushEnvironment: CredentialID] = hasCredential ? [.production: "apple"] : [:]
        database.provision(
            Self.tenant,
            app: "shop",
            routes: [.ios: PlatformRoute(topic: "com.example.shop", credentials: credentials)]
        )
        handler = CommandHandler(
            store: InMemoryCommandStore(database),
            clock: clock,
            identifiers: identifiers,
            policy: policy,
            node: node
        )
    }

    var call: CallScope {
        CallScope(
            tenant: Self.tenant,
            app: "shop",
            vendor: .rationalOwl,
            settings: BindingSettings(tenant: Self.tenant, app: "shop", values: settings)
        )
    }

    func perform(_ commands: Command...) async -> CallResult { await handler.perform(commands, in: call) }

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

    /// The message that a submission made.
    func message(_ result: CallResult) -> NewMessage? {
        messageID(result).flatMap { database.message(Self.tenant, $0) }?.message
    }

    func messageID(_ result: CallResult) -> MessageID? {
        if case .submission(.accepted(let id, _))? = result.replies.first { id } else { nil }
    }
}

extension Submission {
    /// A text to phones.
    static func text(_ body: String = "b", to phones: String...) -> Submission {
        Submission(content: Content(body: body), audience: .listed(phones.map { Addressee(.phone($0)) }))
    }
}
