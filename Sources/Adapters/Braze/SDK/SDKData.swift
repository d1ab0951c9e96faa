import Model

/// The changes that one SDK call makes to devices, users, their events and receipts (docs/contracts/braze.md#3.2, docs/contracts/braze.md#3.3,
/// docs/contracts/braze.md#3.4).
///
/// No part of it is refused, because an SDK keeps refused data and sends it again forever. Invalid parts are dropped.
struct SDKData {
    private let device: VendorDeviceKey
    private let facts: SDKDevice
    private let elements: [JSONObject]
    private let events: [SDKEvent]
    /// The user that the app names as the current one.
    private let currentUser: UserID?
    private let settings: SDKSettings
    /// Whether the call proves its user.
    private let isProven: Bool

    /// - Throws: `AdapterError` for a call without a device id.
    init(_ request: VendorRequest, _ settings: BindingSettings) throws(AdapterError) {
        let body = try request.brazeBody()
        device = try SDKDevice.key(body)
        facts = SDKDevice(body)
        elements = Self.elements(of: body)
        let now = request.receivedAt
        events = (body["events"]?.array ?? []).prefix(BrazeLimits.eventCount).compactMap { SDKEvent($0, at: now) }
        currentUser = body["respond_with"]?.object.flatMap(SDKEvent.user)
        self.settings = SDKSettings(settings)
        isProven = SDKAuthentication(self.settings).isProven(request)
    }

    /// The elements of `attributes` that are read.
    static func elements(of body: JSONObject) -> [JSONObject] {
        (body["attributes"]?.array ?? []).prefix(BrazeLimits.elementCount).compactMap(\.object)
    }

    /// The query that must be answered first: the device's user and its stored facts.
    var question: Command { .registration(.standing(key: device)) }

    private var alias: UserAlias { UserAlias(label: UserFields.deviceLabel, name: device.rawValue) }

    /// The commands in the order of docs/contracts/braze.md#3.9: device, attributes, events; then changes of ownership.
    func commands(after standing: IdentityStanding?) -> [Command] {
        let current: UserName = standing?.user.map { .id($0) } ?? .alias(alias)
        func name(_ user: UserID?) -> UserName { user.map { .id($0) } ?? current }
        let named = elements.compactMap(SDKEvent.user) + events.compactMap(\.user) + [currentUser].compactMap(\.self)
        let token = SDKDevice.token(elements)

        var batches = SDKBatches(key: device.rawValue)
        batches.add(patch(of: named.last.map { .id($0) } ?? current, token, standing))
        for element in elements {
            let (changes, acceptsPush) = Self.changes(element)
            if changes.isEmpty, acceptsPush == nil { continue }
            batches.add(UserPatch(user: name(SDKEvent.user(element)), changes: changes, acceptsPush: acceptsPush))
        }
        for event in events {
            if event.name == "inc" {
                batches.addIncrease(event, UserPatch(user: name(event.user), changes: event.changes))
                continue
            }
            if !event.changes.isEmpty { batches.add(UserPatch(user: name(event.user), changes: event.changes)) }
            if let act = event.act(of: name(event.user)) { batches.add(act, of: event) }
        }
        var commands = batches.commands + receipts
        // The events of an anonymous user are transferred to the first named user, once (docs/contracts/braze.md#3.4).
        if let first = named.first, standing?.user.map(Self.isUnnamed) ?? true {
            commands.append(.user(.identify([NamedUser(user: first, alias: alias)])))
        }
        if token == .clear { commands.append(.registration(.unregister(.key(device)))) }
        return commands
    }

    /// Whether the id is one that the gateway created for a user who is known by an alias only.
    static func isUnnamed(_ user: UserID) -> Bool { user.rawValue.hasPrefix("alias:") }

    private func patch(of user: UserName, _ token: SDKDevice.TokenChange, _ standing: IdentityStanding?) -> UserPatch {
        // Assumed: an app with the SDK is an iOS app; tokens of other platforms are not supported.
        var registration = DeviceRegistration(key: device, platform: .ios)
        if case .set(let token) = token { registration.token = token }
        let old = standing?.attributes ?? JSONObject()
        var facts = facts.facts(after: old)
        if isProven {
            facts[SDKAuthentication.provenAttribute] = true
            registration.assurance = .vouched
        }
        if facts != old { registration.attributes = facts }
        registration.client = SDKDevice.client(facts, after: old)
        // A device must not change between the check of its owner and this write.
        if settings.authentication == .required, let standing, standing.state == .active {
            registration.expected = standing.attributes
        }
        registration.clock = DeviceClock(timeZone: self.facts.timeZone)
        return UserPatch(user: user, devices: [registration])
    }

    /// The changes of an element of `attributes`. Invalid values are omitted.
    private static func changes(_ element: JSONObject) -> (changes: [AttributeChange], acceptsPush: Bool?) {
        var changes: [AttributeChange] = []
        func add(_ name: String, _ value: JSON) {
            guard let edit = try? UserAttributes.edit(name, value, merges: false) else { return }
            changes.append(AttributeChange(name, edit))
        }
        for (name, value) in element.pairs where UserAttributes.standard.contains(name) { add(name, value) }
        for (name, value) in element["custom"]?.object?.pairs ?? [] where !UserAttributes.standard.contains(name) {
            add(name, value)
        }
        let state = element["push_subscribe"]?.string
        let isState = changes.contains { $0.name == "push_subscribe" }
        return (changes, isState ? state.map { $0 != "unsubscribed" } : nil)
    }

    /// Receipts from events that report pushes. An unknown reference gives an orphan receipt, not an error.
    private var receipts: [Command] {
        let reporter = Reporter(key: device)
        return events.lazy.compactMap { event -> Command? in
            let kind: ReceiptKind
            if settings.openEvents.contains(event.name) {
                kind = .read
            } else if settings.receivedEvents.contains(event.name) {
                kind = .received
            } else {
                return nil
            }
            guard let message = PushReference.message(in: event.data) else { return nil }
            return .receipt(.report(kind, message: message.description, reporter: reporter, at: event.at))
        }.prefix(BrazeLimits.receiptCount).map(\.self)
    }
}

/// Splits the changes of a call into batches within the limits.
private struct SDKBatches {
    private let key: String
    private var batches: [UserBatch] = []
    private var current = UserBatch()
    /// The texts of events in `current` without a time of their own: only a repeat key of the batch can detect their repetition.
    private var undated: [String] = []
    private var increases: [(text: String, patch: UserPatch)] = []

    init(key: String) { self.key = key }

    mutating func add(_ patch: UserPatch) {
        if current.patches.count == BrazeLimits.trackCount { close() }
        current.patches.append(patch)
    }

    /// Adds an act. A repeated act is stored once, because it contains its time and its session.
    mutating func add(_ act: UserAct, of event: SDKEvent) {
        if current.acts.count == BrazeLimits.actCount { close() }
        if !event.isDated { undated.append(event.text) }
        current.acts.append(act)
    }

    /// Adds an increase. A repeat would count twice, so it is applied once within the period in which repeats are detected.
    mutating func addIncrease(_ event: SDKEvent, _ patch: UserPatch) {
        if !patch.changes.isEmpty { increases.append((event.text, patch)) }
    }

    private mutating func close() {
        if !undated.isEmpty {
            // Without the key, the gateway's time would make every repeat a new act. The other changes of the batch are the same in a repeat, or harmless.
            current.repeatKey = repeatKey(undated)
        }
        if !current.patches.isEmpty || !current.acts.isEmpty { batches.append(current) }
        current = UserBatch()
        undated = []
    }

    private func repeatKey(_ texts: [String]) -> String {
        BrazeSettings.hash(JSONWriter.text(.array(([key] + texts).map { .string($0) })))
    }

    var commands: [Command] {
        var whole = self
        whole.close()
        let single = increases.prefix(BrazeLimits.increaseCount).map { [$0] }
        let rest = Array(increases.dropFirst(BrazeLimits.increaseCount))
        let together = stride(from: 0, to: rest.count, by: BrazeLimits.trackCount).map {
            Array(rest[$0..<min(rest.count, $0 + BrazeLimits.trackCount)])
        }
        let counted = (single + together).map { group in
            UserBatch(patches: group.map(\.patch), repeatKey: repeatKey(group.map(\.text)))
        }
        return (whole.batches + counted).map { .user(.track($0)) }
    }
}
