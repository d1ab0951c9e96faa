import DatabaseSupport
import DeliveryEngine
import Model

@testable import EngineStore
@testable import Store

/// A registered device of a dialect with an inbox.
struct InboxDevice: Sendable {
    var key: VendorDeviceKey
    var identity: IdentityID
    var user: UserID

    init(key: VendorDeviceKey, identity: IdentityID, user: UserID) {
        self.key = key
        self.identity = identity
        self.user = user
    }

    init(_ device: InboxDevice, user: UserID) { self.init(key: device.key, identity: device.identity, user: user) }
}

// Preparations of the inbox rules.
extension RuleWorld {
    /// The app's scope in the iPNS dialect.
    var inbox: AppScope { AppScope(app: app, vendor: .ipns) }

    func inboxDevice(_ user: UserID) async throws -> InboxDevice {
        let made = try await register(newKey(), token: newToken(), user: user, vendor: .ipns)
        guard let made else { throw StoreError(.failed, "not registered") }
        return InboxDevice(key: made.key, identity: made.identity, user: user)
    }

    /// A numbered message to `devices`, settled in the given state.
    func sent(
        to devices: [InboxDevice],
        _ state: DeliveryState,
        data: JSONObject = [:]
    ) async throws -> (message: MessageID, number: String) {
        let block = try await run(DrawNumbers(inbox, count: 1))
        let number = block.first.text
        var message = message(
            to: devices.map(\.identity),
            claim: NewMessage.Claim(node: "n1", lease: Self.lease)
        )
        message.scope = inbox
        message.content.data = data
        _ = try await commands.run(
            AcceptMessage(message),
            NumberMessage(message.id, [.ipns: number], targets: [], inboxes: [.ipns]),
            in: tenant
        )
        var progress = progress(handover(message), state, .finished)
        for index in progress.results.indices {
            progress.results[index].user = devices[index].user
            progress.results[index].dialect = .ipns
            progress.results[index].reason = state == .sent ? nil : "test"
        }
        _ = try await deliveries.record(progress, by: "n1")
        return (message.id, number)
    }

    func preferences(_ caller: DeviceCaller) async throws -> DevicePreferences? {
        try await run(FindPreferences(inbox, caller))
    }

    func page(_ device: InboxDevice, _ page: HistoryPage) async throws -> [InboxEntry] {
        try await run(ListHistory(inbox, DeviceCaller(key: device.key), page, at: now()))
    }

    func entry(_ device: InboxDevice, _ number: String) async throws -> InboxEntry? {
        try await run(FindInboxMessage(inbox, DeviceCaller(key: device.key), number: number))
    }

    func poll(_ device: InboxDevice, _ limit: Int) async throws -> [InboxEntry] {
        try await run(PollInbox(inbox, DeviceCaller(key: device.key), limit: limit, at: now()))
    }

    func unreceived(_ device: InboxDevice) async throws -> Int? {
        try await run(CountUnreceived(inbox, DeviceCaller(key: device.key), limit: 100, at: now()))
    }

    func report(_ device: InboxDevice, _ number: String, _ kind: ReceiptKind) async throws -> ReceiptReport? {
        let caller = DeviceCaller(key: device.key)
        return try await run(ReportNumber(inbox, caller, number: number, kind, at: now()))
    }

    /// The numbers on a page of the caller's user, read without side effects.
    func look(_ caller: DeviceCaller, _ user: UserID?, before: String? = nil, count: Int = 10, _ look: HistoryLook)
        async throws -> [String]
    {
        let page = HistoryPage(.user(user), before: before, count: count, look: look)
        return try await run(ListHistory(inbox, caller, page, at: now())).map { $0.notification.number(for: .ipns) }
    }

    func userEntry(_ caller: DeviceCaller, _ user: UserID, _ number: String, hiddenBy: String? = nil) async throws
        -> InboxEntry?
    {
        try await run(FindUserMessage(inbox, caller, user, number: number, hiddenBy: hiddenBy))
    }

    func unread(
        _ caller: DeviceCaller,
        _ owner: HistoryPage.Owner,
        hiddenBy: String? = nil,
        limit: Int = HistoryPage.lookLimit,
        in other: TenantID? = nil
    ) async throws -> Int? {
        let statement = CountUnread(inbox, caller, owner, hiddenBy: hiddenBy, limit: limit, at: now())
        return try await run(statement, in: other)
    }
}
